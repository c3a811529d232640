"""Matthews' correlation of truth and decision, all test years of a seed counted together."""

from __future__ import annotations

from lgl_bench.core.matthews import matthews
from lgl_bench.core.types import FloatArray, Value
from lgl_bench.metrics import GradedAnswers, Metric, PooledMetric, metrics
from lgl_bench.metrics.decisions import mcc


@metrics.register("mcc")
class Mcc(PooledMetric, Metric):
    """Matthews' correlation of new and rejected, years counted together: it ranks rows with a threshold.

    Rejecting nobody and rejecting everybody are worth 0. The year rows have that of each year.
    """

    label = "MCC"
    about = (
        "Matthews' correlation of the decisions with the truth, all test years of a seed counted together: 1 is "
        "perfect, and rejecting nobody or everybody is worth 0. It ranks the decisions."
    )
    range = (-1.0, 1.0)
    undefined = "no new vertex, or no vertex of a known class, in all test years"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`decisions.mcc`."""
        return mcc(answers.new, answers.rejected)

    def pool(self, tp: FloatArray, tn: FloatArray, fp: FloatArray, fn: FloatArray) -> FloatArray:
        """`matthews`."""
        return matthews(tp, tn, fp, fn)
