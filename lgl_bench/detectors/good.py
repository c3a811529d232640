"""GOOD (Hoffmann et al. 2023): (1 - alpha) S_v + alpha * mean of S_u over the neighbours u of v.

S is the mapped novelty of the wrapped detector; an isolated vertex keeps S_v.
"""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.mixing import mix
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.detectors.mapping import learn_mapping, mapped
from lgl_bench.training.model import Model


def neighbour_mean(scores: FloatArray, edges: IntArray) -> FloatArray:
    """Mean of the neighbours' scores; an isolated vertex keeps its own.

    >>> neighbour_mean(np.array([0.0, 1.0, 0.5, 0.2]), np.array([[0, 1, 1, 2], [1, 0, 2, 1]])).tolist()
    [1.0, 0.25, 1.0, 0.2]
    """
    degree = np.bincount(edges[1], minlength=len(scores))
    total = np.bincount(edges[1], weights=scores[edges[0]], minlength=len(scores))
    return np.where(degree > 0, total / np.maximum(degree, 1), scores)


@detectors.register("good")
class Good(Detector):
    """Mixes a detector's score of a vertex with the mean score of its neighbours; it nests freely.

    Args:
        base: The detector whose scores are mixed.
        alpha: Weight of the neighbours, in [0, 1].
    """

    def __init__(self, base: Detector, alpha: float = 0.5) -> None:
        if not 0 <= alpha <= 1:
            raise UsageError(f"alpha = {alpha}: it must lie in [0, 1]")
        self.base = base
        self.alpha = alpha
        self.heads = base.heads  # type: ignore[misc]
        self.reads_outputs = base.reads_outputs  # type: ignore[misc]
        self.reads_probabilities = base.reads_probabilities  # type: ignore[misc]
        self.track = base.track  # type: ignore[misc]

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Fits the wrapped detector, and if its scores are unbounded, their mapping."""
        self.base.fit(model, train, fit_vertices, calibration)
        self.mapping_ = learn_mapping(self.base, model, calibration)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        if not hasattr(self, "mapping_"):
            raise PluginError("good has not been fitted; call fit first")
        own = mapped(self.base.score(model, graph), self.mapping_)
        return mix(own, neighbour_mean(own, graph.edges), self.alpha)
