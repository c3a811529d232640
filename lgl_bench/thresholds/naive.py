"""A fixed cut: novelty > delta."""

from __future__ import annotations

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import BoolArray, Scores
from lgl_bench.thresholds import Threshold, thresholds


@thresholds.register("naive")
class Naive(Threshold):
    """Rejects what is more novel than delta.

    Args:
        delta: In (0, 1); the paper takes 0.1.
    """

    def __init__(self, delta: float = 0.1) -> None:
        if not 0 < delta < 1:
            raise UsageError(f"delta = {delta}: it must lie in (0, 1)")
        self.delta = delta

    def reject(self, test: Scores) -> BoolArray:
        """Above the cut."""
        return test.novelty[test.scored] > self.delta
