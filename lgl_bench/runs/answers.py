"""Answering the tasks of a protocol: train once, score with many detectors, decide with many thresholds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lgl_bench.core.errors import LglBenchError, PluginError, UsageError
from lgl_bench.core.expressions import Expression, build
from lgl_bench.core.types import BoolArray, FloatArray, Graph, IntArray, Scores, Task, Truth
from lgl_bench.detectors import Calibration, Detector, checked, detectors, scores_on
from lgl_bench.detectors.good import neighbour_mean
from lgl_bench.detectors.mapping import Mapping, learn_mapping, mapped
from lgl_bench.protocols import Protocol
from lgl_bench.runs.presets import Preset
from lgl_bench.streams.stream import Stream
from lgl_bench.thresholds import thresholds
from lgl_bench.thresholds.oracle import Oracle
from lgl_bench.training.model import Model, build_model
from lgl_bench.training.trainer import Fit, seeded, train


@dataclass(frozen=True, slots=True)
class Method:
    """What is trained, and what scores it.

    Attributes:
        backbone: By name.
        head: By name.
        preset: Parameters of both.
        detectors: Complete expressions; all must work on the head.
        thresholds: Complete expressions, applied to every detector.
    """

    backbone: str
    head: str
    preset: Preset
    detectors: tuple[Expression, ...]
    thresholds: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskAnswers:
    """All answers for one task; dictionaries are keyed by canonical expressions."""

    task: Task
    fit: Fit | None
    skipped: str = ""
    predicted: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    confidence: FloatArray = field(default_factory=lambda: np.empty(0))
    novelty: dict[str, FloatArray] = field(default_factory=dict)
    neighbour: dict[str, FloatArray] = field(default_factory=dict)
    rejected: dict[tuple[str, str], BoolArray] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def answer_tasks(
    stream: Stream,
    protocol: Protocol,
    method: Method,
    seed: int,
    on_epoch: Callable[[int, float], None] | None = None,
) -> Iterator[tuple[TaskAnswers, Truth]]:
    """Walks over the tasks of a protocol. The truth is passed through untouched, for metrics.

    A task goes on from, and is calibrated with, the last one before it whose fit is ok (`lineage`).
    """
    check_heads(method)
    before: Trained | None = None
    for task, truth in protocol.tasks(stream, seed):
        skipped = why_not(task)
        if skipped:
            yield TaskAnswers(task, None, skipped), truth
            continue
        start = before if protocol.chained else None
        model = start_model(task, method, start, seed)
        training = method.preset.training
        fit = train(model, task, training if start is None else training.continued(), seed, on_epoch)
        if fit.status != "ok":
            yield TaskAnswers(task, fit, f"{fit.status}: {fit.reason}"), truth
            continue
        now = Trained(model, task)
        yield score_task(now, before, fit, method, seed, truth), truth
        before = now


def check_heads(method: Method) -> None:
    """Raises where a detector cannot score on the head."""
    for expression in method.detectors:
        detector = build(expression, detectors)
        if not scores_on(detector, method.head):
            works_on = ", ".join(detector.heads)
            raise UsageError(
                f"the detector {expression} cannot score on the head {method.head}; it works on {works_on}"
            )


@dataclass(frozen=True, slots=True)
class Trained:
    """A model and the task it was trained for."""

    model: Model
    task: Task

    @property
    def fit_vertices(self) -> IntArray:
        """Vertices of the loss."""
        return np.flatnonzero(self.task.fit_mask)


def why_not(task: Task) -> str:
    """Why a task cannot be answered; empty where it can."""
    if len(task.known) < 2:
        return f"{len(task.known)} known classes; a classifier needs at least two"
    if not task.fit_mask.any():
        return "no labelled training vertex"
    return "" if len(task.scored) else "no labelled vertex to score"


def start_model(task: Task, method: Method, before: Trained | None, seed: int) -> Model:
    """A fresh model, or a copy of the last one that was fitted, grown by the classes that became known."""
    with seeded(seed, "weights", task.time, task.fold):
        if before is None:
            features = task.train.graph.features.shape[1]
            return build_model(method.backbone, method.head, features, task.known, method.preset.backbone)
        model = copy.deepcopy(before.model)
        model.grow(task.known)
        return model


def _calibration(now: Trained, before: Trained | None, seed: int) -> Calibration:
    """Held-out vertices; else the last fitted task's scored ones as its model saw them; else the training ones."""
    task = now.task
    if task.calibration is not None:
        return Calibration(now.model, task.train, now.fit_vertices, task.train.graph, task.calibration, seed=seed)
    if before is not None:
        last = before.task
        return Calibration(before.model, last.train, before.fit_vertices, last.test, last.scored, seed=seed)
    seen = now.fit_vertices
    return Calibration(now.model, task.train, seen, task.train.graph, seen, trained_on=True, seed=seed)


def score_task(
    now: Trained,
    before: Trained | None,
    fit: Fit | None,
    method: Method,
    seed: int,
    truth: Truth,
) -> TaskAnswers:
    """Scores and decides with everything the method names; what raises fails alone, with its reason.

    Args:
        now: The model and its task.
        before: Those of the last task before it that was fitted, for calibration.
        fit: What became of the fit, where there was one.
        method: Detectors and thresholds.
        seed: Of the run.
        truth: Shown to the oracle threshold, which is never ranked, and to nobody else.
    """
    task, model = now.task, now.model
    calibration = _calibration(now, before, seed)
    confidence = model.probabilities(task.test)[task.scored].max(axis=1)
    result = TaskAnswers(task, fit, predicted=model.predict(task.test)[task.scored], confidence=confidence)
    for expression in method.detectors:
        name = str(expression)
        try:
            scorer = Scorer(expression, model, task, now.fit_vertices, calibration)
            novelty = scorer.novelty(model, task.test)
        except Exception as error:  # a plugin may raise anything; only its own rows fail
            result.failed[name] = _reason(error)
            continue
        result.novelty[name] = novelty[task.scored]
        result.neighbour[name] = neighbour_mean(novelty, task.test.edges)[task.scored]
        for threshold in method.thresholds:
            try:
                result.rejected[name, str(threshold)] = _decide(threshold, scorer, novelty, seed, truth)
            except Exception as error:
                result.failed[f"{name}|{threshold}"] = _reason(error)
    return result


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, LglBenchError) else f"{type(error).__name__}: {error}"


class Scorer:
    """A fitted detector with the mapping of its scores."""

    def __init__(
        self, expression: Expression, model: Model, task: Task, fit_vertices: IntArray, calibration: Calibration
    ) -> None:
        self.name = str(expression)
        self.model, self.task, self.fit_vertices, self.calibration = model, task, fit_vertices, calibration
        self.detector: Detector = build(expression, detectors)
        self.detector.fit(model, task.train, fit_vertices, calibration)
        self.mapping: Mapping | None = learn_mapping(self.detector, model, calibration)

    def novelty(self, model: Model, graph: Graph) -> FloatArray:
        """Mapped novelty of every vertex, in [0, 1]."""
        novelty = mapped(checked(self.detector.score(model, graph), graph, self.name), self.mapping)
        if novelty.min(initial=0.0) < 0 or novelty.max(initial=0.0) > 1:
            raise PluginError(
                f"the detector {self.name} is declared bounded but returned scores from {novelty.min():.4g} to "
                f"{novelty.max():.4g}; they must lie in [0, 1], or set bounded = False"
            )
        return novelty

    @cached_property
    def train_scores(self) -> Scores:
        """Scores of the training graph, with the labels of the vertices of the loss."""
        graph = self.task.train.graph
        labels = np.where(self.task.fit_mask, self.model.columns(self.task.train.labels), -1)
        return Scores(
            self.novelty(self.model, graph), self.model.probabilities(graph), graph, self.fit_vertices, labels
        )

    @cached_property
    def calibration_scores(self) -> Scores:
        """Scores of the calibration vertices by the model that had not learned from them."""
        calibration = self.calibration
        scorer = self
        if calibration.model is not self.model:
            scorer = copy.copy(self)
            scorer.detector = copy.deepcopy(self.detector)
            scorer.detector.fit(calibration.model, calibration.train, calibration.fit_vertices, calibration)
        novelty = scorer.novelty(calibration.model, calibration.graph)
        probabilities = calibration.model.probabilities(calibration.graph)
        return Scores(novelty, probabilities, calibration.graph, calibration.vertices)


def _decide(expression: Expression, scorer: Scorer, novelty: FloatArray, seed: int, truth: Truth) -> BoolArray:
    task = scorer.task
    test = Scores(novelty, scorer.model.probabilities(task.test), task.test, task.scored)
    threshold = build(expression, thresholds)
    if isinstance(threshold, Oracle):
        threshold.reveal(~np.isin(truth.labels, task.known))
    threshold.fit(scorer.train_scores, scorer.calibration_scores, seed)
    rejected = np.asarray(threshold.reject(test))
    if rejected.shape != task.scored.shape or rejected.dtype != np.bool_:
        raise PluginError(
            f"the threshold {expression} returned {rejected.dtype} of shape {rejected.shape}; it must return one "
            f"bool for each of the {len(task.scored)} scored vertices"
        )
    return rejected
