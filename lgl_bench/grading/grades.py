"""The grades of one task: every registered metric, by what it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from lgl_bench.core.errors import reason_of
from lgl_bench.core.types import BoolArray, FloatArray, Value
from lgl_bench.grading.answers import Answered
from lgl_bench.grading.year_table import graded_metrics
from lgl_bench.metrics import GradedAnswers, Metric, metrics

Grade: TypeAlias = Callable[[GradedAnswers], Value]


class Grader:
    """Grades answers with the metrics that are registered when it is made; grades go by columns of year rows."""

    def __init__(self) -> None:
        self._of_labels: dict[str, Grade] = {}
        self._of_novelty: dict[str, Grade] = {}
        self._of_decisions: dict[str, Grade] = {}
        for column, plugin in graded_metrics().items():
            needs = {*plugin.needs}
            group = self._of_novelty if "novelty" in needs else self._of_labels
            group = self._of_decisions if "decision" in needs else group
            group[column] = plugin() if metrics.is_built_in(plugin.name) else partial(guarded, plugin)

    def labels(self, answered: Answered) -> dict[str, Value]:
        """What depends on no detector."""
        return _graded(self._of_labels, answered)

    def novelty(self, answered: Answered, novelty: FloatArray) -> dict[str, Value]:
        """What depends on the detector."""
        return _graded(self._of_novelty, answered, novelty)

    def decisions(self, answered: Answered, novelty: FloatArray, rejected: BoolArray) -> dict[str, Value]:
        """What depends on the threshold."""
        return _graded(self._of_decisions, answered, novelty, rejected)


def _graded(
    wanted: Mapping[str, Grade],
    answered: Answered,
    novelty: FloatArray | None = None,
    rejected: BoolArray | None = None,
) -> dict[str, Value]:
    columns = answered.columns
    answers = GradedAnswers(
        answered.truth, answered.known, answered.new, columns.predicted, columns.confidence, novelty, rejected
    )
    return {name: grade(answers) for name, grade in wanted.items()}


def guarded(plugin: type[Metric], answers: GradedAnswers) -> Value:
    """The grade of a plugin; whatever is wrong with it becomes the reason, because the other grades must not suffer."""
    try:
        found = plugin()(answers)
        if not isinstance(found, Value):
            return Value(None, f"the metric {plugin.name} returned {type(found).__name__}, not a Value")
        if found.value is None:
            return Value(None, str(found.reason) or f"the metric {plugin.name} returned no reason")
        number = float(found.value)
    except Exception as error:  # a plugin may raise anything
        return Value(None, f"the metric {plugin.name} failed: {reason_of(error)}")
    low, high = plugin.range
    if not math.isfinite(number) or (low is not None and number < low) or (high is not None and number > high):
        return Value(None, f"the metric {plugin.name} returned {number:g}, which is outside its range")
    return Value(number)
