"""A past for t1: the years that are walked before it, and that nothing later is looked at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.plans.paper_presets import preset
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs import answering
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.tuning import plan as tune_plan
from lgl_bench.tuning.rehearsal import rehearsed, rehearsed_value
from lgl_bench.tuning.space import candidates
from lgl_bench.tuning.tasks import validation_part
from tests.support.answers import aurocs
from tests.support.graphs import small_stream
from tests.support.tuning import T1, scrambled

TEMPORAL = ProtocolSetting("temporal", label_delay=0)


def long_stream(t0: int = 5, **knobs):
    """Seven years, of which one is missing."""
    given = {"times": (0, 1, 2, 4, 5, 6, 7), "growth": (20,) * 7, "births": (2, 0, 1, 0, 0, 1, 1), **knobs}
    stream = small_stream(**given)
    return replace(stream, info=replace(stream.info, t0=t0))


def test_the_walk_begins_three_existing_years_before_t0_and_ends_with_the_validation_task():
    stream = long_stream()
    cut = validation_part(stream)
    walked = rehearsed(cut, TEMPORAL)
    assert walked.info.t0 == 1 and walked.times == (0, 1, 2, 4, 5, 6)
    *before, (task, truth) = Temporal().tasks(walked, 0)
    assert [one.time for one, _ in before] == [2, 4, 5]
    expected, labels = next(Temporal().tasks(stream, 0))
    assert expected.role == "validation" and task.time == expected.time == 6
    assert np.array_equal(task.scored, expected.scored) and np.array_equal(truth.labels, labels.labels)
    assert np.array_equal(task.test.edges, expected.test.edges) and np.array_equal(task.known, expected.known)


def test_with_fewer_years_the_walk_is_shorter():
    assert rehearsed(validation_part(long_stream(t0=2)), TEMPORAL).info.t0 == 0


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (long_stream(t0=0), "0 is its first year"),
        (long_stream(t0=2, births=(1, 0, 1, 0, 0, 1, 1)), "1 known classes"),
        (small_stream(static=True), "has no years"),
    ],
    ids=["first year", "too few classes", "static"],
)
def test_a_stream_without_a_year_to_learn_before_t0_is_refused_with_the_reason(stream, reason):
    with pytest.raises(UsageError, match=reason):
        rehearsed(validation_part(stream), TEMPORAL)


def test_years_with_too_few_classes_are_passed_over():
    walked = rehearsed(validation_part(long_stream(births=(1, 0, 1, 0, 0, 1, 1))), TEMPORAL)
    skipped = [bool(task.skip_reason) for task, _ in Temporal().tasks(walked, 0)]
    assert skipped == [True, False, False, False]


def test_the_value_is_that_of_the_walk_and_only_its_end_is_scored(monkeypatch):
    cut = validation_part(long_stream())
    chosen = preset("small", "temporal", "mlp", "softmax")
    chosen = replace(chosen, training=replace(chosen.training, epochs=4))
    method = Method("mlp", "softmax", chosen, (parse("energy"),), strategy=parse("replay(size=5)"))
    *_, (answers, truth) = answer_tasks(rehearsed(cut, TEMPORAL), Temporal(), method, 1)
    (expected,) = aurocs(answers, truth).values()
    first = next(answer_tasks(cut, Temporal(), method, 1))
    assert aurocs(*first) != aurocs(answers, truth), "what was learned before matters"

    scored = []
    original = answering.score_task
    monkeypatch.setattr(
        answering, "score_task", lambda now, *rest: scored.append(now.task.time) or original(now, *rest)
    )
    wanted = [candidates("energy", "small", "temporal", "mlp")]
    values = [rehearsed_value(cut, TEMPORAL, "auroc", method, wanted, seeds) for seeds in (1, 2)]
    assert scored == [6, 6, 6]
    assert 2 * values[1] - values[0] == pytest.approx(expected, abs=1e-12)


# what is looked at
@pytest.mark.parametrize("asked", ["replay", "ewc"])
def test_scrambled_later_years_give_the_identical_study(tune, asked):
    stream = small_stream()
    other = scrambled(stream, np.flatnonzero(stream.born > T1))
    given = {"strategies": [asked], "backbones": ["mlp"], "trials": 2}
    first, second = tune("a", stream=stream, **given), tune("b", stream=other, **given)
    assert first.spec.metric == "auroc" and first.spec.name == second.spec.name
    assert tune.values("a") == tune.values("b") and len(tune.values("a")) == 2
    assert first.entry == second.entry
    changed = scrambled(stream, np.flatnonzero(stream.born == T1))
    assert tune.plan("c", stream=changed, **given).specs[0].name != first.spec.name


def test_a_leak_of_later_years_would_show_in_the_values(tune, monkeypatch):
    stream = small_stream()
    other = scrambled(stream, np.flatnonzero(stream.born > T1))
    monkeypatch.setattr(tune_plan, "validation_part", lambda stream: stream)
    given = {"strategies": ["replay"], "backbones": ["mlp"], "trials": 1}
    tune("a", stream=stream, **given)
    tune("b", stream=other, **given)
    assert [value for _, value in tune.values("a")] != [value for _, value in tune.values("b")]
