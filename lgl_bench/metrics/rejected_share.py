"""Share of vertices that are called new."""

from __future__ import annotations

from lgl_bench.core.types import Value
from lgl_bench.metrics import GradedAnswers, Metric, metrics
from lgl_bench.metrics.decisions import rejected_share


@metrics.register("rejected_share")
class RejectedShare(Metric):
    """Share of the scored vertices that are called new."""

    label = "Rejected"
    about = "Share of the scored vertices that are rejected; mean over years."
    range = (0.0, 1.0)
    needs = ("decision",)
    looks_at = "all"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`decisions.rejected_share`."""
        return rejected_share(answers.rejected)
