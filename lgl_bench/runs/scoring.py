"""A trained model scored by one detector, and decided on by thresholds: all of it without the truth."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lgl_bench.core.errors import PluginError, reason_of
from lgl_bench.core.expressions import Expression, build
from lgl_bench.core.types import BoolArray, FloatArray, Graph, IntArray, Scores, Task
from lgl_bench.detectors import Calibration, Detector, checked, detectors, graph_for
from lgl_bench.detectors.mapping import Mapping, learn_mapping, mapped
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.strategies import Strategy, strategies
from lgl_bench.strategies.history import Cold
from lgl_bench.thresholds import thresholds
from lgl_bench.thresholds.oracle import Oracle
from lgl_bench.training.ensemble import EnsembleModel
from lgl_bench.training.model import Model, build_model
from lgl_bench.training.trainer import seeded

FULL = Expression("full")
"""The strategy of who names none."""


@dataclass(frozen=True, slots=True)
class Method:
    """What is trained, and what scores it.

    Attributes:
        backbone: By name.
        head: By name.
        preset: Parameters of both.
        detectors: Complete expressions; all must work on the head.
        thresholds: Complete expressions, applied to every detector.
        strategy: What is kept of the past; None if tasks do not build on each other.
        members: Models of a fit; the detectors must be those of an ensemble of so many, or of none if it is 1.
    """

    backbone: str
    head: str
    preset: Preset
    detectors: tuple[Expression, ...]
    thresholds: tuple[Expression, ...] = ()
    strategy: Expression | None = FULL
    members: int = 1

    def build_strategy(self) -> Strategy:
        """A strategy for one fit."""
        built: Strategy = Cold() if self.strategy is None else build(self.strategy, strategies)
        return built

    def parts(self) -> Iterator[Part]:
        """What is scored together: a detector with the built-in thresholds; every other threshold by itself.

        The oracle is in no part: it decides where the truth is.
        """
        usual = tuple(one for one in self.thresholds if thresholds.is_built_in(one.name))
        without_oracle = tuple(one for one in usual if thresholds.get(one.name) is not Oracle)
        for detector in self.detectors:
            yield Part(detector, without_oracle)
            yield from (Part(detector, (one,), scored=False) for one in self.thresholds if one not in usual)


@dataclass(frozen=True, slots=True)
class Part:
    """One detector, with thresholds that decide on it.

    Attributes:
        scored: Whether its novelty is wanted, or only what the thresholds decide.
    """

    detector: Expression
    thresholds: tuple[Expression, ...] = ()
    scored: bool = True

    @property
    def built_in(self) -> bool:
        """Whether every plugin in it comes with lgl-bench."""
        return all(detectors.is_built_in(name) for name in names_in(self.detector)) and all(
            thresholds.is_built_in(one.name) for one in self.thresholds
        )


def names_in(expression: Expression) -> Iterator[str]:
    """The plugin an expression names, and those it wraps."""
    yield expression.name
    for argument in expression.arguments:
        yield from names_in(argument)


@dataclass(frozen=True, slots=True)
class PartAnswers:
    """What came of a part.

    Attributes:
        novelty: Of every vertex of the test graph.
        rejected: By threshold, for every scored vertex.
        failed: By threshold, the reason why there is no decision.
    """

    novelty: FloatArray
    rejected: dict[str, BoolArray] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trained:
    """A model and the task it was trained for, as its strategy saw it."""

    model: Model
    task: Task

    @property
    def fit_vertices(self) -> IntArray:
        """Vertices of the loss."""
        return np.flatnonzero(self.task.fit_mask)

    @property
    def members(self) -> list[Trained]:
        """The members of an ensemble, each with the task as it saw it; a single model is its own."""
        if not isinstance(self.model, EnsembleModel):
            return [self]
        return [Trained(*pair) for pair in zip(self.model.parts, self.model.views, strict=True)]


def start_model(task: Task, method: Method, before: Trained | None, seed: int) -> Model:
    """A fresh model, or a copy of the last one that was fitted, grown by the classes that became known."""
    with seeded(seed, "weights", task.time, task.fold):
        if before is None:
            features = task.train.graph.features.shape[1]
            return build_model(method.backbone, method.head, features, task.known, method.preset.backbone)
        model = copy.deepcopy(before.model)
        model.grow(task.known)
        return model


def score_part(part: Part, now: Trained, calibration: Calibration) -> PartAnswers:
    """Scores and decides; a threshold that raises fails alone.

    Args:
        part: Which detector and thresholds.
        now: The model and its task.
        calibration: See `calibration_of`.
    """
    scorer = Scorer(part.detector, now, calibration)
    answers = PartAnswers(scorer.novelty(now.model, now.task.test, now.task.scored, now.task.trained))
    for threshold in part.thresholds:
        try:
            answers.rejected[str(threshold)] = _decide(threshold, scorer, answers.novelty)
        except Exception as error:  # a plugin may raise anything; only its own rows fail
            answers.failed[str(threshold)] = reason_of(error)
    return answers


def calibration_of(now: Trained, before: Trained | None, seed: int) -> Calibration:
    """Held-out vertices; else the last fitted task's scored ones as its model saw them; else the training ones."""
    task = now.task
    if task.calibration is not None:
        fit, graph = now.fit_vertices, task.train.graph
        return Calibration(now.model, task.train, fit, graph, task.calibration, seed=seed, trained=fit)
    if before is not None:
        last = before.task
        fit = before.fit_vertices
        return Calibration(before.model, last.train, fit, last.test, last.scored, seed=seed, trained=last.trained)
    seen = now.fit_vertices
    return Calibration(now.model, task.train, seen, task.train.graph, seen, seed=seed, trained=seen)


class Scorer:
    """A fitted detector with the mapping of its scores."""

    def __init__(self, expression: Expression, now: Trained, calibration: Calibration) -> None:
        self.name = str(expression)
        self.model, self.task, self.fit_vertices = now.model, now.task, now.fit_vertices
        self.calibration = calibration
        self.detector: Detector = build(expression, detectors)
        self.detector.fit(self.model, self.task.train, self.fit_vertices, calibration)
        self.mapping: Mapping | None = learn_mapping(self.detector, self.model, calibration)

    def novelty(self, model: Model, graph: Graph, scored: IntArray, trained: IntArray | None) -> FloatArray:
        """Mapped novelty of every vertex, in [0, 1]; the last two are told to a transductive detector only."""
        given = graph_for(self.detector, graph, scored, trained)
        novelty = mapped(checked(self.detector.score(model, given), graph, self.name), self.mapping)
        if novelty.min(initial=0.0) < 0 or novelty.max(initial=0.0) > 1:
            raise PluginError(
                f"the detector {self.name} is declared bounded but returned scores from {novelty.min():.4g} to "
                f"{novelty.max():.4g}; they must lie in [0, 1], or set bounded = False"
            )
        return novelty

    @cached_property
    def train_scores(self) -> Scores:
        """Scores of the training graph, with the labels of the vertices of the loss."""
        graph, fit = self.task.train.graph, self.fit_vertices
        labels = np.where(self.task.fit_mask, self.model.columns(self.task.train.labels), -1)
        novelty = self.novelty(self.model, graph, fit, fit)
        return Scores(novelty, self.model.probabilities(graph), graph, fit, labels)

    @cached_property
    def calibration_scores(self) -> Scores:
        """Scores of the calibration vertices by the model that had not learned from them."""
        calibration = self.calibration
        scorer = self
        if calibration.model is not self.model:
            scorer = copy.copy(self)
            scorer.detector = copy.deepcopy(self.detector)
            scorer.detector.fit(calibration.model, calibration.train, calibration.fit_vertices, calibration)
        graph, vertices = calibration.graph, calibration.vertices
        novelty = scorer.novelty(calibration.model, graph, vertices, calibration.trained)
        return Scores(novelty, calibration.model.probabilities(graph), graph, vertices)


def _decide(expression: Expression, scorer: Scorer, novelty: FloatArray) -> BoolArray:
    task = scorer.task
    test = Scores(novelty, scorer.model.probabilities(task.test), task.test, task.scored)
    threshold = build(expression, thresholds)
    threshold.fit(scorer.train_scores, scorer.calibration_scores, scorer.calibration.seed)
    rejected = np.asarray(threshold.reject(test))
    if rejected.shape != task.scored.shape or rejected.dtype != np.bool_:
        raise PluginError(
            f"the threshold {expression} returned {rejected.dtype} of shape {rejected.shape}; it must return one "
            f"bool for each of the {len(task.scored)} scored vertices"
        )
    return rejected
