"""Expected calibration error of the known classes."""

from __future__ import annotations

from lgl_bench.core.types import Value
from lgl_bench.metrics import GradedAnswers, Metric, metrics
from lgl_bench.metrics.calibration import ece


@metrics.register("ece")
class Ece(Metric):
    """Expected calibration error of the scored vertices of known classes, in 15 bins."""

    label = "ECE"
    about = "How far confidence lies from accuracy, over 15 bins of confidence; mean over years. Lower is better."
    range = (0.0, 1.0)
    higher_is_better = False
    needs = ("labels",)
    looks_at = "known"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`calibration.ece`."""
        return ece(answers.truth, answers.predicted, answers.confidence, answers.known)
