"""How long until a class that emerges is detected, and with how many false alarms, read off the stored answers."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from lgl_bench.grading.labels import Labels
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.table.schema import PLACE
from lgl_bench.metrics.emerging import YearAnswers, detection_delay, emerging_classes
from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.sources import ReportInput
from lgl_bench.runs.store import RunStore


class Found(NamedTuple):
    """A class with one seed: its delay, and the false-alarm rate of the same decisions."""

    delay: float | None
    false_alarms: float | None


Delays: TypeAlias = dict[int, list[Found]]
"""Per class, one entry per seed."""


class DelayReader:
    """Reads the delays of rows of one stream off the stored answers.

    Attributes:
        born: Of each input by its position, the emerging classes and their years of birth.
    """

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.born: dict[int, dict[int, int]] = {}

    def delays(self, row: ShownRow, source: ReportInput) -> Delays:
        """Of each emerging class, delay and false alarms with every seed."""
        assert source.folder is not None
        store = RunStore(source.folder)
        found: Delays = defaultdict(list)
        for _, part in _of(row, source.years).groupby("seed"):
            years = [year for year in (self._year(store, row, unit) for unit in part.to_dict("records")) if year]
            if not years:
                continue
            self.born.setdefault(row.source, {}).update(emerging_classes(years))
            for label, one in detection_delay(years).items():
                found[label].append(Found(one.delay.value, one.false_alarm_rate.value))
        return dict(found)

    def _year(self, store: RunStore, row: ShownRow, unit: dict[Any, Any]) -> YearAnswers | None:
        record = store.fit(unit["key"])
        if record is None or not store.has_answers(unit["key"]):
            return None
        columns = store.columns(unit["key"])
        name = unit.get("chosen") or row.detector
        rejected = columns.rejected(name, row.threshold) if row.threshold else None
        novelty = columns.novelty(name)
        if rejected is None and (row.threshold or novelty is None):
            return None
        return YearAnswers(
            int(unit["time"]),
            self.labels.of(columns.vertices),
            np.array(record.known, dtype=np.int64),
            rejected=rejected,
            novelty=novelty,
        )


def _of(row: ShownRow, years: pd.DataFrame) -> pd.DataFrame:
    """The year rows behind a row."""
    place = dict(zip(PLACE, row.place.values, strict=True))
    fits = years["status"] == "ok"
    for name in KEY:
        fits &= years[name] == (place[name] if name in place else getattr(row, name))
    return years[fits]
