"""Open-set macro F1."""

from __future__ import annotations

from lgl_bench.core.types import Value
from lgl_bench.metrics import GradedAnswers, Metric, metrics
from lgl_bench.metrics.decisions import open_f1


@metrics.register("open_f1")
class OpenF1(Metric):
    """Mean F1 of the known classes and of one class "new"."""

    label = "Open F1"
    about = "F1 over the known classes and one class 'new', averaged over classes."
    range = (0.0, 1.0)
    needs = ("labels", "decision")
    looks_at = "all"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`decisions.open_f1`."""
        return open_f1(answers.truth, answers.predicted, answers.known, answers.rejected)
