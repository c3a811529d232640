"""Macro F1 of the decision between known and new."""

from __future__ import annotations

from lgl_bench.core.types import BoolArray, Value
from lgl_bench.metrics import GradedAnswers, Kernel, Metric, SeedAnswers, kernels, metrics
from lgl_bench.metrics.decisions import macro_f1


@metrics.register("macro_f1")
class MacroF1(Metric):
    """Mean of the F1 of known and of new."""

    label = "Macro F1"
    about = "F1 of 'new' and F1 of 'known', averaged; mean over the years that have both kinds."
    range = (0.0, 1.0)
    needs = ("decision",)

    def __call__(self, answers: GradedAnswers) -> Value:
        """`decisions.macro_f1`."""
        return macro_f1(answers.new, answers.rejected)

    def kernel(self, new: BoolArray, answers: SeedAnswers) -> Kernel:
        """`kernels.macro_f1`."""
        return kernels.macro_f1(new, answers.decided)
