"""Replies from a process that nobody trusts: what is right arrives, what is forged is refused."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.types import TrainingParameters
from lgl_bench.detectors import detectors
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.isolation.replies import MAX_HEADER, Inbox, encode_failure, encode_reply
from lgl_bench.runs.isolation.requests import Reply, Request
from lgl_bench.runs.scoring import Method, Part, PartAnswers
from lgl_bench.strategies import EMPTY
from lgl_bench.strategies.offers import Given, offer
from lgl_bench.thresholds import thresholds
from lgl_bench.training.trainer import Fit
from tests.support.graphs import small_stream

DETECTOR = complete(parse("msp"), detectors)
THRESHOLDS = tuple(complete(parse(text), thresholds) for text in ("naive", "quantile"))
NAMES = [str(one) for one in THRESHOLDS]


@pytest.fixture
def asked():
    """A request for a fit, and one for a part."""
    task, _ = next(iter(Temporal().tasks(small_stream(), 0)))
    method = Method("gcn", "softmax", Preset("", {}, TrainingParameters()), ())
    fit = Request(method, 0, task, None, None, given=Given(offer(task, None, EMPTY)))
    return fit, Request(method, 0, task, b"weights", None, Part(DETECTOR, THRESHOLDS))


def heard(request, data, chunk=1000, most=1000):
    inbox = Inbox(request, most)
    for start in range(0, len(data), chunk):
        inbox.feed(data[start : start + chunk])
    assert inbox.complete
    return inbox.reply()


def with_head(head, body=b""):
    text = json.dumps(head).encode()
    return struct.pack(">Q", len(text)) + text + body


@pytest.mark.parametrize("chunk", [1, 7, 10**6])
def test_a_reply_arrives_as_it_was_sent_however_it_is_cut(asked, chunk):
    fit, part = asked
    n, scored = part.task.test.num_vertices, len(part.task.scored)
    answers = PartAnswers(np.linspace(0, 1, n), {NAMES[0]: np.arange(scored) % 2 == 0}, {NAMES[1]: "no luck"})
    found = heard(part, b"".join(encode_reply(part, Reply(answers=answers))), chunk).part
    assert np.array_equal(found.novelty, answers.novelty) and found.failed == answers.failed
    assert found.rejected.keys() == answers.rejected.keys()
    assert np.array_equal(found.rejected[NAMES[0]], answers.rejected[NAMES[0]])
    sent = Reply(Fit("ok", "", 3, 0.5, 0.1), b"new", 400.0, np.ones(n, dtype=np.int64), np.full(n, 0.5))
    found = heard(fit, b"".join(encode_reply(fit, sent)), chunk)
    assert found.fit == sent.fit and found.weights == b"new" and np.array_equal(found.columns, sent.columns)


def test_a_failure_arrives_as_its_reason(asked):
    with pytest.raises(PluginError, match=r"^ValueError: no \\udc80 luck$"):
        heard(asked[1], b"".join(encode_failure("ValueError: no \udc80 luck")))


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ({}, "not complete"),
        ([], "no JSON object"),
        ({"fit": None, "weights": 0, "failed": {}, "peak_memory_mb": "much"}, "not complete"),
        ({"fit": ["ok", "", 1, 0.1, 0.1], "weights": 3, "failed": {}, "peak_memory_mb": 0}, "what became of the fit"),
        ({"fit": None, "weights": 5, "failed": {}, "peak_memory_mb": 0}, "not asked for"),
        ({"fit": None, "weights": 10**15, "failed": {}, "peak_memory_mb": 0}, "impossible size"),
        ({"fit": None, "weights": -1, "failed": {}, "peak_memory_mb": 0}, "impossible size"),
    ],
)
def test_a_forged_head_is_refused(asked, head, said):
    with pytest.raises(PluginError, match=f"cannot be used: .*{said}"):
        heard(asked[1], with_head(head))


@pytest.mark.parametrize("data", [b"\xff" * 8, struct.pack(">Q", MAX_HEADER + 1)])
def test_a_head_without_end_is_refused_before_it_is_read(asked, data):
    with pytest.raises(PluginError, match="head is too long"):
        heard(asked[1], data)


def test_json_that_nests_without_end_is_refused(asked):
    text = b"[" * 100_000
    with pytest.raises(PluginError, match="no JSON object"):
        heard(asked[1], struct.pack(">Q", len(text)) + text)


def test_values_that_nobody_may_answer_are_refused(asked):
    fit, part = asked
    n, scored = part.task.test.num_vertices, len(part.task.scored)
    plain = {"fit": None, "weights": 0, "memory": 0, "failed": dict.fromkeys(NAMES, "no"), "peak_memory_mb": 0}
    for value in (np.nan, np.inf, -0.1, 1.1):
        with pytest.raises(PluginError, match="not every novelty"):
            heard(part, with_head(plain, np.full(n, value).tobytes()))
    decided = {**plain, "failed": {NAMES[0]: "no"}}
    with pytest.raises(PluginError, match="neither true nor false"):
        heard(part, with_head(decided, np.zeros(n).tobytes() + bytes([2] * scored)))
    head = {**plain, "fit": ["ok", "", 1, 0.1, 0.1], "weights": 1, "failed": {}}
    with pytest.raises(PluginError, match="not known"):
        heard(fit, with_head(head, b"w" + np.full(n, 99).tobytes() + np.zeros(n).tobytes()))


def test_what_is_sent_after_a_reply_is_not_kept(asked):
    part = asked[1]
    answers = PartAnswers(np.zeros(part.task.test.num_vertices), {}, dict.fromkeys(NAMES, "no"))
    found = heard(part, b"".join(encode_reply(part, Reply(answers=answers))) + b"x" * 10_000)
    assert not found.part.novelty.any()
