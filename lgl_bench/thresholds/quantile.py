"""Cuts at a quantile of calibration novelty, plain and with the finite-sample correction of conformal prediction."""

from __future__ import annotations

import math

import numpy as np

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import BoolArray, FloatArray, Scores
from lgl_bench.thresholds import Threshold, thresholds


def conformal_cut(novelty: FloatArray, q: float) -> float:
    """The ceil((n + 1)(1 - q))-th smallest score; infinite if n is too small for the promise.

    >>> conformal_cut(np.arange(1, 10) / 10, q=0.2), conformal_cut(np.array([0.5]), q=0.1)
    (0.8, inf)
    """
    rank = math.ceil((len(novelty) + 1) * (1.0 - q) - 1e-9)  # 10 * (1 - 0.7) is a little more than 3
    return float(np.sort(novelty)[rank - 1]) if rank <= len(novelty) else math.inf


@thresholds.register("quantile")
class Quantile(Threshold):
    """Rejects what is more novel than the (1 - q) quantile of calibration novelty.

    Args:
        q: Share of calibration vertices above the cut, in (0, 1).
    """

    def __init__(self, q: float = 0.1) -> None:
        if not 0 < q < 1:
            raise UsageError(f"q = {q}: it must lie in (0, 1)")
        self.q = q

    def fit(self, train: Scores, calibration: Scores, seed: int) -> None:
        """Learns the cut."""
        if not len(calibration.scored):
            raise PluginError("there are no calibration vertices to take a quantile of")
        self.cut_ = self._cut(calibration.novelty[calibration.scored])

    def reject(self, test: Scores) -> BoolArray:
        """Above the cut."""
        if not hasattr(self, "cut_"):
            raise PluginError("the threshold has not been fitted; call fit first")
        return test.novelty[test.scored] > self.cut_

    def _cut(self, novelty: FloatArray) -> float:
        return float(np.quantile(novelty, 1.0 - self.q))


@thresholds.register("conformal")
class Conformal(Quantile):
    """As `quantile`, with the correction that bounds the share of rejected known vertices by q."""

    def _cut(self, novelty: FloatArray) -> float:
        return conformal_cut(novelty, self.q)
