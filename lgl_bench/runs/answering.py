"""Answering the tasks of a protocol: train once, score with many detectors, decide with many thresholds.

Built-in plugins are trusted with the model itself. Others are sent a copy of what they need (`requests`), so that
nothing they do reaches who comes after them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from lgl_bench.core.errors import UsageError, reason_of
from lgl_bench.core.expressions import build, complete
from lgl_bench.core.members import members_of
from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Scores, Task, Truth
from lgl_bench.detectors import detectors, scores_on
from lgl_bench.detectors.good import neighbour_mean
from lgl_bench.kernels import kernel_name
from lgl_bench.plans.suited import unsuited
from lgl_bench.protocols import Protocol
from lgl_bench.runs.answer_columns import AnswerName
from lgl_bench.runs.isolation.requests import Ask, Request, answer_here, dump_weights, fitted, threads_in_use
from lgl_bench.runs.scoring import Method, Part, PartAnswers, Trained, calibration_of, score_part
from lgl_bench.strategies import EMPTY
from lgl_bench.strategies.members import given_to
from lgl_bench.streams.stream import Stream
from lgl_bench.thresholds import thresholds
from lgl_bench.thresholds.oracle import Oracle
from lgl_bench.training.trainer import Fit


@dataclass(frozen=True, slots=True)
class TaskAnswers:
    """All answers for one task; dictionaries are keyed by canonical expressions.

    Attributes:
        seconds: What each detector took to fit and to score, with what decides on it.
    """

    task: Task
    fit: Fit | None
    skipped: str = ""
    predicted: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    confidence: FloatArray = field(default_factory=lambda: np.empty(0))
    novelty: dict[str, FloatArray] = field(default_factory=dict)
    neighbour: dict[str, FloatArray] = field(default_factory=dict)
    rejected: dict[tuple[str, str], BoolArray] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def answer_tasks(
    stream: Stream,
    protocol: Protocol,
    method: Method,
    seed: int,
    on_epoch: Callable[[int, float], None] | None = None,
    score_from: int | None = None,
) -> Iterator[tuple[TaskAnswers, Truth]]:
    """Walks over the tasks of a protocol. The truth is passed through untouched, for metrics.

    A task goes on from, and is calibrated with, the last one before it whose fit is ok (`lineage`).

    Args:
        stream: What is cut into tasks.
        protocol: Cuts it.
        method: What is trained, and what scores it.
        seed: Of the run.
        on_epoch: Called after each epoch of every fit, with its number and its loss.
        score_from: Tasks of earlier years are learned and not scored; None scores all.
    """
    check_heads(method)
    if not protocol.chained:
        method = replace(method, strategy=None)
    built = method.build_strategy()
    before: Trained | None = None
    earlier, memory = None, EMPTY
    for task, truth in protocol.tasks(stream, seed):
        skipped = task.skip_reason
        if skipped:
            yield TaskAnswers(task, None, skipped), truth
            continue
        given = given_to(task, earlier, memory, built.past, built.graph, method.members)
        model, year = fitted(method, given, before, seed, on_epoch=on_epoch)
        if year.fit.status != "ok":
            yield TaskAnswers(task, year.fit, f"{year.fit.status}: {year.fit.reason}"), truth
            continue
        now = Trained(model, year.task)
        if score_from is None or task.time >= score_from:
            yield score_task(now, before, year.fit, method, seed, truth), truth
        else:
            yield TaskAnswers(year.task, year.fit), truth
        before = now
        if protocol.chained:  # the training graphs of other tasks do not number the same vertices
            earlier, memory = task, year.memory


def check_heads(method: Method) -> None:
    """Raises if a detector cannot score on the head, the backbone or the number of models."""
    for expression in method.detectors:
        members = members_of(str(complete(expression, detectors)))
        if members != method.members:
            raise UsageError(
                f"the detector {expression} scores {members} models together; the fit has {method.members}"
            )
        if reason := unsuited(str(expression), method.backbone):
            raise UsageError(f"the detector {expression} cannot score on the backbone {method.backbone}: {reason}")
        detector = build(expression, detectors)
        if not scores_on(detector, method.head):
            works_on = ", ".join(detector.heads)
            raise UsageError(
                f"the detector {expression} cannot score on the head {method.head}; it works on {works_on}"
            )


def score_task(
    now: Trained,
    before: Trained | None,
    fit: Fit | None,
    method: Method,
    seed: int,
    truth: Truth,
    ask: Ask = answer_here,
) -> TaskAnswers:
    """Scores and decides with everything the method names; what raises fails alone, with its reason.

    Args:
        now: The model and its task.
        before: Those of the last task before it that was fitted, for calibration.
        fit: What became of the fit, if there was one.
        method: Detectors and thresholds.
        seed: Of the run.
        truth: Shown to the oracle threshold, which is never ranked, and to nobody else.
        ask: Who answers for plugins that are not built in.
    """
    task, model = now.task, now.model
    calibration = calibration_of(now, before, seed)
    confidence = model.probabilities(task.test)[task.scored].max(axis=1)
    result = TaskAnswers(task, fit, predicted=model.predict(task.test)[task.scored], confidence=confidence)
    parts = list(method.parts())
    own = [part for part in parts if part.built_in]
    add_parts(result, own, lambda part: score_part(part, now, calibration))
    others = [part for part in parts if not part.built_in]
    if others:
        earlier = None if before is None else (before.task, dump_weights(before.model))
        request = Request(
            method,
            seed,
            task,
            dump_weights(model),
            earlier,
            threads=threads_in_use(),
            kernels=kernel_name(),
            views=tuple(one.task for one in now.members[1:]),
            before_views=() if before is None else tuple(one.task for one in before.members[1:]),
        )
        add_parts(result, others, lambda part: ask(request.of(part)).part)
    add_oracle(result, method, truth)
    return result


def add_parts(result: TaskAnswers, parts: Iterable[Part], respond: Callable[[Part], PartAnswers]) -> None:
    """Adds the answers of every part; one that raises fails alone."""
    task = result.task
    for part in parts:
        name = str(part.detector)
        if name in result.failed:
            continue
        start = time.perf_counter()
        try:
            found = respond(part)
        except Exception as error:  # a plugin may raise anything; only its own rows fail
            named = [AnswerName(name)] if part.scored else [AnswerName(name, str(one)) for one in part.thresholds]
            result.failed.update(dict.fromkeys(map(str, named), reason_of(error)))
            continue
        result.seconds[name] = result.seconds.get(name, 0.0) + time.perf_counter() - start
        if part.scored:
            result.novelty[name] = found.novelty[task.scored]
            result.neighbour[name] = neighbour_mean(found.novelty, task.test.edges)[task.scored]
        result.rejected.update({(name, threshold): rejected for threshold, rejected in found.rejected.items()})
        result.failed.update({str(AnswerName(name, one)): reason for one, reason in found.failed.items()})


def add_oracle(result: TaskAnswers, method: Method, truth: Truth) -> None:
    """Lets the oracle threshold decide, if the method names it: here, because nothing else sees the truth."""
    task = result.task
    for expression in method.thresholds:
        if not (thresholds.is_built_in(expression.name) and thresholds.get(expression.name) is Oracle):
            continue
        oracle: Oracle = build(expression, thresholds)
        oracle.reveal(~np.isin(truth.labels, task.known))
        for name, novelty in result.novelty.items():
            scores = Scores(novelty, np.empty((0, 0)), task.test, np.arange(len(novelty)))
            result.rejected[name, str(expression)] = oracle.reject(scores)
