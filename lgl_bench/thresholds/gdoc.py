"""DOC and gDOC (Shu et al. 2017, Galke et al. 2021): p_k < delta_k = max(delta_min, 1 - scale * sigma_k) for all k.

sigma_k = sqrt(mean (1 - p_k)^2) over the class's own training vertices
(what the points mirrored around 1 have for a standard deviation). Rejected is a vertex whose probability lies below
delta_k for every class.
"""

from __future__ import annotations

import math

import numpy as np

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Scores
from lgl_bench.thresholds import Threshold, thresholds


def class_thresholds(probabilities: FloatArray, labels: IntArray, delta_min: float, scale: float) -> FloatArray:
    """delta_k of every class; a class without training vertices has delta_min.

    >>> p = np.array([[0.9, 0.1], [0.7, 0.2], [0.1, 0.8]])
    >>> class_thresholds(p, np.array([0, 0, 1]), 0.1, 3.0).round(4).tolist()
    [0.3292, 0.4]
    """
    found = np.full(probabilities.shape[1], delta_min)
    for k in np.unique(labels[labels >= 0]):
        sigma = np.sqrt(np.mean((1.0 - probabilities[labels == k, k]) ** 2))
        found[k] = max(delta_min, 1.0 - scale * sigma)
    return found


@thresholds.register("gdoc")
class GDocThreshold(Threshold):
    """Rejects what is improbable for every class, each by a cut of its own from the training probabilities.

    On heads other than one-vs-rest it applies to the class probabilities.

    Args:
        delta_min: No threshold is lower.
        scale: Standard deviations below 1.
    """

    def __init__(self, delta_min: float = 0.1, scale: float = 3.0) -> None:
        if not 0 <= delta_min < 1 or not 0 < scale < math.inf:
            raise UsageError(f"delta_min = {delta_min}, scale = {scale}: delta_min in [0, 1), scale > 0 and finite")
        self.delta_min = delta_min
        self.scale = scale

    def fit(self, train: Scores, calibration: Scores, seed: int) -> None:
        """Learns one threshold a class from the training vertices."""
        if train.labels is None:
            raise PluginError("the gdoc threshold needs the labels of the training vertices")
        rows = train.scored
        self.deltas_ = class_thresholds(train.probabilities[rows], train.labels[rows], self.delta_min, self.scale)

    def reject(self, test: Scores) -> BoolArray:
        """Below the threshold of every class."""
        if not hasattr(self, "deltas_"):
            raise PluginError("the gdoc threshold has not been fitted; call fit first")
        return np.asarray((test.probabilities[test.scored] < self.deltas_).all(axis=1))
