"""The best method so far, for the progress of a run: labels, metric and years are those of the board."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from lgl_bench.core.grammar import plugin_name, without_values
from lgl_bench.grading.labels import Labels
from lgl_bench.metrics.ranking import auroc
from lgl_bench.metrics.ranks import STATIC_PROTOCOLS, ranks_by
from lgl_bench.plans.fits import Unit
from lgl_bench.runs.answer_columns import AnswerColumns
from lgl_bench.streams.stream import Stream


class _Method(NamedTuple):
    """A row of the board without a threshold; what it is ranked by comes first."""

    metric: str
    strategy: str
    backbone: str
    head: str
    detector: str

    def __str__(self) -> str:
        strategy = plugin_name(self.strategy)
        rest = [self.backbone, *([strategy] if strategy not in ("", "full") else [])]
        return f"{without_values(self.detector)} on {', '.join(rest)}"


class Best:
    """Keeps the ranking metric of every method that is a row of the board, over the test tasks answered so far.

    When all are answered in one run, its value is that of the row: the mean over seeds of the mean over years, weighted
    by new vertices, or over folds. Rows that choose a detector's parameters have no value before the end.

    Args:
        streams: By name, for their labels.
        detectors: Of the rows, as canonical expressions.
    """

    def __init__(self, streams: Mapping[str, Stream], detectors: Collection[str]) -> None:
        self._labels = {name: Labels(stream) for name, stream in streams.items()}
        self._detectors = list(dict.fromkeys(detectors))
        # by stream and method: of each seed its tasks, each with AUROC and weight
        self._tasks: dict[str, dict[_Method, dict[int, dict[str, tuple[float, int]]]]] = {}

    def add(self, unit: Unit, answers: AnswerColumns, known: list[int]) -> None:
        """Takes the answers of a unit in; validation tasks, which are for choosing, count on no board."""
        if unit.role != "test":
            return
        chain = unit.chain
        new = ~np.isin(self._labels[chain.stream].of(answers.vertices), known)
        weight = 1 if chain.protocol.name in STATIC_PROTOCOLS else int(new.sum())
        for detector in self._detectors:
            novelty = answers.novelty(detector)
            value = None if novelty is None else auroc(new, novelty).value
            if value is not None:
                metric = ranks_by(chain.protocol.name, "")
                method = _Method(metric, chain.strategy.name, chain.shown_backbone, chain.head, detector)
                seeds = self._tasks.setdefault(chain.stream, {}).setdefault(method, {})
                seeds.setdefault(chain.seed, {})[unit.key] = value, weight

    def on(self, stream: str) -> str:
        """The best method on a stream, with its metric."""
        means = {
            method: float(np.mean([_mean(list(tasks.values())) for tasks in seeds.values()]))
            for method, seeds in self._tasks.get(stream, {}).items()
        }
        if not means:
            return ""
        method = max(means, key=lambda one: means[one])
        return f"{method}, {method.metric} {means[method]:.3f}"


def _mean(tasks: list[tuple[float, int]]) -> float:
    return sum(value * weight for value, weight in tasks) / sum(weight for _, weight in tasks)
