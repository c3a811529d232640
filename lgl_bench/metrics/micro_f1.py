"""Micro F1 of the decision between known and new."""

from __future__ import annotations

from lgl_bench.core.types import BoolArray, Value
from lgl_bench.metrics import GradedAnswers, Kernel, Metric, SeedAnswers, kernels, metrics
from lgl_bench.metrics.decisions import micro_f1


@metrics.register("micro_f1")
class MicroF1(Metric):
    """Share of right decisions between known and new."""

    label = "Micro F1"
    about = "Share of vertices that are rightly called new or known."
    range = (0.0, 1.0)
    needs = ("decision",)
    looks_at = "all"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`decisions.micro_f1`."""
        return micro_f1(answers.new, answers.rejected)

    def kernel(self, new: BoolArray, answers: SeedAnswers) -> Kernel:
        """`kernels.micro_f1`."""
        return kernels.micro_f1(new, answers.decided)
