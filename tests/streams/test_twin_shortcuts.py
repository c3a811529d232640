"""What is new on a twin must be learned: no sign that is free to read ranks new vertices above known ones, or below."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

import numpy as np
import pytest

from lgl_bench.core.references import FLOOR
from lgl_bench.core.types import BoolArray, FloatArray, Graph, IntArray, Sparse, Task
from lgl_bench.detectors import Calibration, detectors
from lgl_bench.metrics.ranking import auroc
from lgl_bench.plans.suite import load_suite
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.streams import catalogue

MOST = 0.60
TEMPORAL_TWINS = [name for name, manifest in catalogue.twins().items() if manifest.t0 is not None]
HOMOPHILIES = [f"dblp-easy-twin(homophily={share})" for share in (0.1, 0.3, 0.5, 0.7, 0.9)]


@cache
def years(name: str) -> list[tuple[Task, BoolArray]]:
    """The test years of a twin: the task, and which of its scored vertices are new."""
    tasks = Temporal().tasks(catalogue.load(name), 0)
    return [(task, ~np.isin(truth.labels, task.known)) for task, truth in tasks if task.role == "test"]


def graded(name: str, score: Callable[[Graph], FloatArray]) -> float:
    """What ranks a detector: AUROC of the years, weighted by their new vertices."""
    found = [(auroc(new, score(task.test)[task.scored]).value, int(new.sum())) for task, new in years(name)]
    defined = [(value, count) for value, count in found if value is not None]
    return float(np.average([value for value, _ in defined], weights=[count for _, count in defined]))


def floor(name: str, seed: int) -> Callable[[Graph], FloatArray]:
    """A detector of the floor, fitted without a model."""
    nothing = cast(Any, None)
    detector = detectors.get(name)()
    detector.fit(nothing, nothing, nothing, Calibration(*(nothing,) * 5, seed=seed))
    return lambda graph: cast(FloatArray, detector.score(nothing, graph))


def old_features(graph: Graph) -> tuple[FloatArray, FloatArray]:
    """Features of every vertex, and the mean over those born before the last year."""
    features = graph.features.dense() if isinstance(graph.features, Sparse) else graph.features
    x = features.astype(np.float64)
    return x, x[graph.born < graph.born.max()].mean(axis=0)


def over_neighbours(graph: Graph, value: FloatArray) -> FloatArray:
    """Mean of a value over the neighbours of each vertex; its own if it has none."""
    one, other = graph.edges
    degree = np.bincount(other, minlength=graph.num_vertices)
    total = np.bincount(other, weights=value[one], minlength=graph.num_vertices)
    return np.where(degree > 0, total / np.maximum(degree, 1), value)


def degrees(graph: Graph) -> FloatArray:
    return np.bincount(graph.edges[1], minlength=graph.num_vertices).astype(np.float64)


def contemporaries(graph: Graph) -> FloatArray:
    one, other = graph.edges
    same: IntArray = other[graph.born[one] == graph.born[other]]
    return np.bincount(same, minlength=graph.num_vertices).astype(np.float64)


def distance_to_the_mean(graph: Graph) -> FloatArray:
    x, mean = old_features(graph)
    return cast(FloatArray, np.linalg.norm(x - mean, axis=1))


def angle_to_the_mean(graph: Graph) -> FloatArray:
    """On bags of words, how common the words of a vertex are."""
    x, mean = old_features(graph)
    return cast(FloatArray, (x @ mean) / np.linalg.norm(x, axis=1))


def unseen_features(graph: Graph) -> FloatArray:
    x, mean = old_features(graph)
    return cast(FloatArray, ((x != 0) & (mean == 0)).sum(axis=1).astype(np.float64))


SIGNS: dict[str, Callable[[Graph], FloatArray]] = {
    "mean birth year of the neighbours": lambda graph: over_neighbours(graph, graph.born.astype(np.float64)),
    "mean degree of the neighbours": lambda graph: over_neighbours(graph, degrees(graph)),
    "neighbours of the own year": contemporaries,
    "place among the vertices": lambda graph: np.arange(graph.num_vertices, dtype=np.float64),
    "length of the features": lambda graph: np.linalg.norm(old_features(graph)[0], axis=1),
    "positive features": lambda graph: (old_features(graph)[0] > 0).sum(axis=1).astype(np.float64),
    "features nobody had before": unseen_features,
    "distance to the mean features": distance_to_the_mean,
    "angle to the mean features": angle_to_the_mean,
}


def free_signs() -> Iterator[tuple[str, list[Callable[[Graph], FloatArray]]]]:
    """Each shortcut with the scores to average: three runs of every detector of the floor, and the other signs."""
    for name in FLOOR:
        yield name, [floor(name, seed) for seed in range(3)]
    for name, score in SIGNS.items():
        yield name, [score]


@pytest.mark.parametrize("twin", TEMPORAL_TWINS)
@pytest.mark.parametrize(("sign", "scores"), list(free_signs()), ids=[name for name, _ in free_signs()])
def test_no_free_sign_tells_new_from_known_on_a_twin_in_either_direction(
    twin: str, sign: str, scores: list[Callable[[Graph], FloatArray]]
) -> None:
    found = float(np.mean([graded(twin, score) for score in scores]))
    assert 1 - MOST < found < MOST, sign


@pytest.mark.parametrize("twin", HOMOPHILIES)
@pytest.mark.parametrize("name", ["degree", "recency"])
def test_the_floor_stays_low_whatever_homophily_a_twin_is_given(twin: str, name: str) -> None:
    found = graded(twin, floor(name, 0))
    assert 1 - MOST < found < MOST


def test_every_twin_that_stands_in_on_the_temporal_suite_is_looked_at() -> None:
    assert {name + catalogue.TWIN for name in load_suite("temporal").streams} <= set(TEMPORAL_TWINS)
