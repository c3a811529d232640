"""Accuracy of the known classes, and the area under it over the years."""

from __future__ import annotations

from lgl_bench.core.types import BoolArray, Value
from lgl_bench.metrics import Aggregate, GradedAnswers, Kernel, Metric, SeedAnswers, kernels, metrics
from lgl_bench.metrics.classification import accuracy


class AccuracyOfYear(Metric):
    """Share of right predictions among scored vertices of known classes."""

    range = (0.0, 1.0)
    needs = ("labels",)
    looks_at = "known"
    year_column = "accuracy"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`classification.accuracy`."""
        return accuracy(answers.truth, answers.predicted, answers.known)


@metrics.register("accuracy")
class Accuracy(AccuracyOfYear):
    """Share of right predictions among scored vertices of known classes."""

    label = "Accuracy"
    about = "Share of the vertices of known classes that get the right class; mean over years."

    def kernel(self, new: BoolArray, answers: SeedAnswers) -> Kernel:
        """`kernels.accuracy`."""
        return kernels.accuracy(new, answers.correct)


@metrics.register("accuracy_area")
class AccuracyArea(AccuracyOfYear):
    """Area under the accuracy of the test years, divided by the years it spans."""

    label = "Accuracy, area"
    about = "Area under the accuracy of the test years, divided by the years it spans."
    over_years = Aggregate.AREA
