"""False alarms, all test years of a seed counted together."""

from __future__ import annotations

from lgl_bench.core.types import FloatArray
from lgl_bench.metrics import PooledMetric, metrics


@metrics.register("false_alarm_rate")
class FalseAlarmRate(PooledMetric):
    """Share of known vertices that are rejected, all test years together."""

    label = "False alarms"
    about = "Share of the known vertices that are rejected, all test years together. Lower is better."
    range = (0.0, 1.0)
    higher_is_better = False
    undefined = "no vertex of a known class in all test years"
    looks_at = "known"

    def pool(self, tp: FloatArray, tn: FloatArray, fp: FloatArray, fn: FloatArray) -> FloatArray:
        """FP / (FP + TN)."""
        return fp / (fp + tn)
