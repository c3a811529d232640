"""Stored answers beside the truth: what grading and choosing read."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lgl_bench.core.errors import DataError
from lgl_bench.core.references import is_external
from lgl_bench.core.types import BoolArray, IntArray
from lgl_bench.grading.labels import Labels
from lgl_bench.plans.fits import Unit
from lgl_bench.runs.answer_columns import CONFIDENCE, PREDICTED, VERTEX, AnswerColumns, AnswerName
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.stream import Stream

_KEPT = 64


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of one unit.

    Attributes:
        truth: Global class id of every scored vertex.
        known: Classes that were known.
        new: Which vertices are of no known class.
        columns: All columns of the answers.
    """

    time: int
    role: str
    fold: str
    truth: IntArray
    known: IntArray
    new: BoolArray
    columns: AnswerColumns


class Reader:
    """Reads the answers of a store; those of the last few units are kept.

    Args:
        store: Where the answers are.
        streams: By name, for their labels.
        current: Whether the digest behind a name is that of the current code; answers and failures of other code are
            ignored. By default all of them count.
        stale: Keys of fits that other code made; they are ignored.
    """

    def __init__(
        self,
        store: RunStore,
        streams: Mapping[str, Stream],
        current: Callable[[str, str], bool] = lambda name, source: True,
        stale: Container[str] = (),
    ) -> None:
        self.store, self.current, self.stale = store, current, stale
        self._labels = {name: Labels(stream) for name, stream in streams.items()}
        self._streams = dict(streams)
        self._cached = lru_cache(maxsize=_KEPT)(self._read)
        self._records = lru_cache(maxsize=_KEPT)(store.fit)

    def answered(self, unit: Unit) -> Answered | None:
        """The answers of a unit; None if there are none."""
        return self._cached(unit)

    def record(self, unit: Unit) -> FitRecord | None:
        """The record of a unit's fit; None if there is none."""
        return None if unit.key in self.stale else self._records(unit.key)

    def stream(self, name: str) -> Stream:
        """A stream by name."""
        return self._streams[name]

    def forget(self) -> None:
        """Reads anew what was kept, because the store has grown."""
        self._cached.cache_clear()
        self._records.cache_clear()

    def failures(self, record: FitRecord | None) -> dict[str, str]:
        """Reasons of what could not be answered, by name."""
        if record is None:
            return {}
        return {
            name: reason
            for name, reason in record.failed.items()
            if self.current(name, record.failed_sources.get(name, ""))
        }

    def _current(self, key: str) -> AnswerColumns:
        sources = self.store.sources(key).items()
        stale = [AnswerName.parse(name) for name, source in sources if not self.current(name, source)]
        return self.store.columns(key).without(stale)

    def _read(self, unit: Unit) -> Answered | None:
        record = self.record(unit)
        if record is None or record.status != "ok" or not self.store.has_answers(unit.key):
            return None
        columns = self._current(unit.key)
        needed = (VERTEX, PREDICTED) if is_external(unit.chain.backbone) else (VERTEX, PREDICTED, CONFIDENCE)
        missing = [name for name in needed if name not in columns]
        if missing:
            raise DataError(f"{self.store.folder}/answers/{unit.key}.parquet has no column '{missing[0]}'")
        truth = self._labels[unit.chain.stream].of(columns.vertices)
        known = np.array(record.known, dtype=np.int64)
        new = ~np.isin(truth, known)
        return Answered(unit.time, unit.role, unit.fold, truth, known, new, columns)
