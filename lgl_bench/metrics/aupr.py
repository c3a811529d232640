"""Area under precision and recall, with new and with known as positive."""

from __future__ import annotations

from lgl_bench.core.types import Value
from lgl_bench.metrics import GradedAnswers, Metric, metrics
from lgl_bench.metrics.ranking import aupr, aupr_known


@metrics.register("aupr")
class Aupr(Metric):
    """Area under precision and recall with new as positive; chance is worth the prevalence."""

    label = "AUPR"
    about = "Area under precision and recall, new vertices being the positives; mean over years."
    range = (0.0, 1.0)
    needs = ("novelty",)

    def __call__(self, answers: GradedAnswers) -> Value:
        """`ranking.aupr`."""
        return aupr(answers.new, answers.novelty)


@metrics.register("aupr_known")
class AuprKnown(Metric):
    """Area under precision and recall with known as positive."""

    label = "AUPR of known"
    about = "Area under precision and recall, known vertices being the positives; mean over years."
    range = (0.0, 1.0)
    needs = ("novelty",)

    def __call__(self, answers: GradedAnswers) -> Value:
        """`ranking.aupr_known`."""
        return aupr_known(answers.new, answers.novelty)
