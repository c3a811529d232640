"""Open-set classification rate."""

from __future__ import annotations

from lgl_bench.core.types import Value
from lgl_bench.metrics import GradedAnswers, Metric, metrics
from lgl_bench.metrics.ranking import oscr


@metrics.register("oscr")
class Oscr(Metric):
    """Area under right classifications of known vertices against new ones that are accepted."""

    label = "OSCR"
    about = "Area under right classifications of known vertices against new ones taken for known."
    range = (0.0, 1.0)
    needs = ("labels", "novelty")

    def __call__(self, answers: GradedAnswers) -> Value:
        """`ranking.oscr`."""
        return oscr(answers.new, answers.novelty, answers.correct)
