"""Share of new vertices: what AUPR is worth by chance."""

from __future__ import annotations

from lgl_bench.core.types import Value
from lgl_bench.metrics import GradedAnswers, Metric, metrics
from lgl_bench.metrics.ranking import prevalence


@metrics.register("prevalence")
class Prevalence(Metric):
    """Share of new vertices among the scored ones: the AUPR of a novelty that knows nothing."""

    label = "Prevalence"
    about = "Share of new vertices among the scored ones; mean over years."
    range = (0.0, 1.0)
    needs = ("labels",)
    looks_at = "all"

    def __call__(self, answers: GradedAnswers) -> Value:
        """`ranking.prevalence`."""
        return prevalence(answers.new)
