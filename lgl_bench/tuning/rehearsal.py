"""A past for the validation task: a strategy that keeps nothing yet cannot be judged.

The first task of a stream has no year before it. On the stream cut after t1 the tasks begin a few years earlier: the
strategy walks from there to t0 as a run does, and only its answers for t1 count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lgl_bench.core.errors import LglBenchError, UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.core.types import Truth
from lgl_bench.grading.selection import ValidationAnswers
from lgl_bench.metrics.classification import accuracy
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.runs.answering import TaskAnswers, answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.streams.stream import Stream
from lgl_bench.tuning.objective import best_setting, complete_answers
from lgl_bench.tuning.space import Candidates
from lgl_bench.tuning.tasks import Metric

REHEARSED = 3
"""Years before t0, counted in years that exist, whose tasks are learned first; fewer if there are fewer."""


def rehearsed(stream: Stream, setting: ProtocolSetting) -> Stream:
    """The stream with an earlier t0.

    Args:
        stream: Cut by `validation_part`.
        setting: The protocol.

    Raises:
        UsageError: No year before t0 can be learned.
    """
    t0 = stream.info.t0
    if t0 is None or stream.static:
        raise UsageError(f"{stream.name} has no years, so there is no past to keep; leave --strategy out")
    start = stream.times[max(0, stream.index(t0) - REHEARSED)]
    earlier = replace(stream, info=replace(stream.info, t0=start))
    reason = f"{t0} is its first year"
    for task, _ in setting.build().tasks(earlier, 0):
        if task.time == stream.times[-1]:
            break
        reason = task.skip_reason
        if not reason:
            return earlier
    raise UsageError(
        f"no strategy can be tuned on {stream.name}: no year before its t0 = {t0} can be learned ({reason}), so there "
        "is no past to keep when the year after it is scored; give the strategy's values in its expression"
    )


def rehearsed_value(
    stream: Stream, setting: ProtocolSetting, metric: Metric, method: Method, wanted: Sequence[Candidates], seeds: int
) -> float:
    """The metric of a strategy on t1, averaged over detectors and seeds.

    Args:
        stream: Cut by `validation_part`.
        setting: The protocol.
        metric: What counts.
        method: Backbone, head, parameters and strategy; its detectors are not looked at.
        wanted: The detectors, each with the best of its settings.
        seeds: Number of seeds.
    """
    ranked = wanted if metric == "auroc" else ()
    every = tuple(parse(text) for text in sorted({text for one in ranked for text in one.settings}))
    scored_with = replace(method, detectors=every)
    right: list[list[float]] = []
    parts: list[list[ValidationAnswers]] = []
    for seed in range(seeds):
        right.append([])
        parts.append([])
        for found, truth in _last_answers(stream, setting, scored_with, seed):
            known = found.task.known
            value = accuracy(truth.labels, found.predicted, known).value
            right[-1] += [] if value is None else [value]
            parts[-1].append(complete_answers(found, ~np.isin(truth.labels, known), ranked))
    if not all(right if metric == "accuracy" else parts):
        raise UsageError(f"no validation task of {stream.name} has an {metric}")
    if metric == "accuracy":
        return float(np.mean([np.mean(seed) for seed in right]))
    return float(np.mean([best_setting(one, parts)[1] for one in wanted]))


def _last_answers(
    stream: Stream, setting: ProtocolSetting, method: Method, seed: int
) -> Iterator[tuple[TaskAnswers, Truth]]:
    """The answers for the last year; the years before are only learned."""
    last = stream.times[-1]
    for found, truth in answer_tasks(rehearsed(stream, setting), setting.build(), method, seed, score_from=last):
        if found.fit is not None and found.skipped:
            raise LglBenchError(found.skipped)
        if found.fit is not None and found.task.time == last:
            yield found, truth
