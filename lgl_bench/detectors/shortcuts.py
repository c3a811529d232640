"""Two shortcuts that know nothing of classes: every real method must beat them."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.seeds import generator
from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.training.model import Model

ANY_HEAD = ("softmax", "doc", "gdoc", "isomax+", "genodin")


@detectors.register("random")
class Random(Detector):
    """Uniform noise.

    Args:
        seed: Of the draw.
    """

    heads = ANY_HEAD

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        return generator(self.seed, "random detector").random(graph.num_vertices)


@detectors.register("degree")
class Degree(Detector):
    """1 / (1 + degree): what is hardly connected looks new."""

    heads = ANY_HEAD

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In (0, 1]."""
        degree = np.bincount(graph.edges[1], minlength=graph.num_vertices).astype(np.float64)
        return 1.0 / (1.0 + degree)
