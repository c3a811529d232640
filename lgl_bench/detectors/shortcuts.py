"""The floor: three shortcuts that know nothing of classes. Every real method must beat them."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.seeds import generator
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.training.model import Model


@detectors.register("random")
class Random(Detector):
    """Uniform noise, from the run's own seed: what no method may fall below."""

    heads = ()
    cost = "none"

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Takes the seed of the run."""
        self.seed_ = calibration.seed

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        if not hasattr(self, "seed_"):
            raise PluginError("random has not been fitted; call fit first")
        return generator(self.seed_, "random detector").random(graph.num_vertices)


@detectors.register("degree")
class Degree(Detector):
    """1 / (1 + degree): a vertex with few edges looks new."""

    heads = ()
    cost = "none"

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In (0, 1]."""
        degree = np.bincount(graph.edges[1], minlength=graph.num_vertices).astype(np.float64)
        return 1.0 / (1.0 + degree)


def recency(edges: IntArray, born: IntArray) -> FloatArray:
    """Share of each vertex's neighbours that were born in its own year; 1 if it has none.

    >>> recency(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), np.array([2000, 2001, 2001, 2001])).tolist()
    [0.0, 0.5, 1.0, 1.0]
    """
    same = (born[edges[0]] == born[edges[1]]).astype(np.float64)
    degree = np.bincount(edges[1], minlength=len(born))
    return np.where(degree > 0, np.bincount(edges[1], weights=same, minlength=len(born)) / np.maximum(degree, 1), 1.0)


@detectors.register("recency")
class Recency(Detector):
    """The share of a vertex's neighbours born in its own year: a newborn class can link only to its contemporaries."""

    heads = ()
    cost = "none"

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        return recency(graph.edges, graph.born)
