"""Macro F1 of the known classes."""

from __future__ import annotations

from lgl_bench.core.types import Value
from lgl_bench.metrics import GradedAnswers, Metric, metrics
from lgl_bench.metrics.classification import class_macro_f1


@metrics.register("class_macro_f1")
class ClassMacroF1(Metric):
    """Mean F1 of the known classes that appear among the scored vertices."""

    label = "Macro F1 of classes"
    about = "F1 of the known classes that appear, each class counting the same; mean over years."
    range = (0.0, 1.0)
    needs = ("labels",)
    looks_at = "known"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`classification.class_macro_f1`."""
        return class_macro_f1(answers.truth, answers.predicted, answers.known)
