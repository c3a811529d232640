"""AUROC of new against known, and the four ways its years become one value."""

from __future__ import annotations

from lgl_bench.core.types import BoolArray, Value
from lgl_bench.metrics import Aggregate, GradedAnswers, Kernel, Metric, SeedAnswers, kernels, metrics
from lgl_bench.metrics.contract import MIN_NEW
from lgl_bench.metrics.ranking import auroc


class AurocOfYear(Metric):
    """Chance that a new vertex has a higher novelty than a known one."""

    range = (0.0, 1.0)
    needs = ("novelty",)
    undefined = "no year with new vertices"
    year_column = "auroc"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`ranking.auroc`."""
        return auroc(answers.new, answers.novelty)


@metrics.register("auroc_weighted")
class AurocWeighted(AurocOfYear):
    """AUROC, years weighted by their number of new vertices: it ranks temporal rows.

    Equal weights would let a year with one new vertex count as much as a year with hundreds.
    """

    label = "AUROC"
    about = (
        "How well new vertices are told from known ones: the chance that a new vertex looks more novel than a known "
        "one. Years count by their number of new vertices. It ranks the detectors on streams with years."
    )
    over_years = Aggregate.BY_NEW

    def kernel(self, new: BoolArray, answers: SeedAnswers) -> Kernel:
        """`kernels.auroc`."""
        return kernels.auroc(new, answers.novelty)


@metrics.register("auroc_mean")
class AurocMean(AurocOfYear):
    """AUROC, the plain mean of years with at least five new vertices, or of folds: it ranks static rows."""

    label = "AUROC, mean"
    about = (
        "Plain mean over years with at least five new vertices; over left-out classes, where it ranks the detectors."
    )
    over_years = Aggregate.ENOUGH_NEW
    undefined = f"no year with {MIN_NEW} new vertices"

    def kernel(self, new: BoolArray, answers: SeedAnswers) -> Kernel:
        """`kernels.auroc`."""
        return kernels.auroc(new, answers.novelty)


@metrics.register("auroc_paper")
class AurocPaper(AurocOfYear):
    """AUROC, the plain mean of every year that has one, the validation year included."""

    label = "AUROC, paper"
    about = "Mean over every year that has one, the validation year included."
    over_years = Aggregate.EVERY_YEAR


@metrics.register("auroc_area")
class AurocArea(AurocOfYear):
    """Area under the AUROC of the test years, divided by the years it spans."""

    label = "AUROC, area"
    about = "Area under the AUROC of the test years, divided by the years it spans."
    over_years = Aggregate.AREA
    undefined = "no value in any year"
