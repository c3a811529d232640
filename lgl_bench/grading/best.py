"""The best method so far, for the progress of a run: the same labels and the same AUROC as the board."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lgl_bench.core.grammar import plugin_name
from lgl_bench.grading.labels import Labels
from lgl_bench.metrics.ranking import auroc
from lgl_bench.plans.fits import Unit
from lgl_bench.runs.answer_columns import AnswerColumns, answered_names
from lgl_bench.streams.stream import Stream


class Best:
    """Keeps, for every method, the AUROC of the answers so far, each year weighted by its new vertices."""

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self._labels = {name: Labels(stream) for name, stream in streams.items()}
        self._sums: dict[str, dict[str, tuple[float, int]]] = {}

    def add(self, unit: Unit, answers: AnswerColumns, known: list[int]) -> None:
        """Takes the answers of a unit in."""
        stream = unit.chain.stream
        new = ~np.isin(self._labels[stream].of(answers.vertices), known)
        for name in answered_names(answers):
            novelty = None if name.threshold else answers.novelty(name.detector)
            value = None if novelty is None else auroc(new, novelty).value
            if value is not None:
                parts = (unit.chain.shown_backbone, plugin_name(unit.chain.strategy.name), name.detector)
                method = " ".join(part for part in parts if part not in ("", "full"))
                total, count = self._sums.setdefault(stream, {}).get(method, (0.0, 0))
                weight = int(new.sum())
                self._sums[stream][method] = total + value * weight, count + weight

    def on(self, stream: str) -> str:
        """The best method on a stream."""
        means = {name: total / count for name, (total, count) in self._sums.get(stream, {}).items()}
        if not means:
            return ""
        name = max(means, key=lambda one: means[one])
        return f"{name} {means[name]:.3f}"
