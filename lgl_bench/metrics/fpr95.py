"""False-positive rate at 95 % recall, with new and with known as positive."""

from __future__ import annotations

from lgl_bench.core.types import Value
from lgl_bench.metrics import GradedAnswers, Metric, metrics
from lgl_bench.metrics.ranking import fpr95, fpr95_known


@metrics.register("fpr95")
class Fpr95(Metric):
    """Share of known vertices called new at the first cut that finds 95 % of the new ones."""

    label = "FPR95"
    about = "Share of known vertices that are taken for new when 95 % of the new ones are found. Lower is better."
    range = (0.0, 1.0)
    higher_is_better = False
    needs = ("novelty",)

    def __call__(self, answers: GradedAnswers) -> Value:
        """`ranking.fpr95`."""
        return fpr95(answers.new, answers.novelty)


@metrics.register("fpr95_known")
class Fpr95Known(Metric):
    """Share of new vertices accepted at the first cut that accepts 95 % of the known ones."""

    label = "FPR95 of known"
    about = "Share of new vertices that are taken for known when 95 % of the known ones are accepted. Lower is better."
    range = (0.0, 1.0)
    higher_is_better = False
    needs = ("novelty",)

    def __call__(self, answers: GradedAnswers) -> Value:
        """`ranking.fpr95_known`."""
        return fpr95_known(answers.new, answers.novelty)
