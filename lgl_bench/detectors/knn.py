"""Deep nearest neighbours (Sun et al. 2022): distance of z/|z| to its k-th nearest training one, halved."""

from __future__ import annotations

import numpy as np
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.training.model import Model


@detectors.register("knn")
class Knn(Detector):
    """The distance of an embedding of length one to its k-th nearest training embedding.

    Unit vectors are at most 2 apart, so half the distance lies in [0, 1].

    Args:
        k: Which neighbour counts; the last one if there are fewer.
    """

    def __init__(self, k: int = 50) -> None:
        if k < 1:
            raise UsageError(f"k = {k}: it must be at least 1")
        self.k = k

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Keeps the training embeddings."""
        import sklearn.neighbors  # a second to import, and few runs need it

        unit = _unit(model, train.graph)[fit_vertices]
        self.neighbours_ = sklearn.neighbors.NearestNeighbors(
            n_neighbors=min(self.k, len(unit)), algorithm="brute"
        ).fit(unit)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        if not hasattr(self, "neighbours_"):
            raise PluginError("knn has not been fitted; call fit first")
        distances, _ = self.neighbours_.kneighbors(_unit(model, graph))
        return np.asarray(np.clip(distances[:, -1] / 2, 0.0, 1.0), dtype=np.float64)


def _unit(model: Model, graph: Graph) -> FloatArray:
    z = torch.nn.functional.normalize(model.outputs(graph).embeddings, dim=1)
    return z.numpy()
