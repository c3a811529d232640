"""The two decisions that cost nothing: call nobody new, call everybody new. Both have a Matthews correlation of 0."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import BoolArray, Scores
from lgl_bench.thresholds import Threshold, thresholds


@thresholds.register("never")
class Never(Threshold):
    """Rejects nobody."""

    def reject(self, test: Scores) -> BoolArray:
        """Nowhere true."""
        return np.zeros(len(test.scored), dtype=np.bool_)


@thresholds.register("always")
class Always(Threshold):
    """Rejects everybody."""

    def reject(self, test: Scores) -> BoolArray:
        """True everywhere."""
        return np.ones(len(test.scored), dtype=np.bool_)
