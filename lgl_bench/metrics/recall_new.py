"""Recall of new, all test years of a seed counted together."""

from __future__ import annotations

from lgl_bench.core.types import FloatArray
from lgl_bench.metrics import PooledMetric, metrics


@metrics.register("recall_new")
class RecallNew(PooledMetric):
    """Share of new vertices that are rejected, all test years together."""

    label = "Recall of new"
    about = "Share of the new vertices that are rejected, all test years together."
    range = (0.0, 1.0)
    undefined = "no new vertex in all test years"
    looks_at = "new"

    def pool(self, tp: FloatArray, tn: FloatArray, fp: FloatArray, fn: FloatArray) -> FloatArray:
        """TP / (TP + FN)."""
        return tp / (tp + fn)
