"""Stored answers beside the truth: what grading and choosing read."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.units import Unit
from lgl_bench.streams.lookup import positions
from lgl_bench.streams.stream import Stream

_KEPT = 64


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of one unit.

    Attributes:
        truth: Global class id of every scored vertex.
        known: Classes that were known.
        new: Which vertices are of no known class.
        predicted: Global class ids.
        columns: All columns of the answers, by name.
    """

    time: int
    role: str
    fold: str
    truth: IntArray
    known: IntArray
    new: BoolArray
    predicted: IntArray
    columns: dict[str, Any]

    def novelty(self, base: str) -> FloatArray | None:
        """Novelty of a scored expression; None where it was not scored."""
        return self.columns.get(f"novelty:{base}")

    def neighbour(self, base: str) -> FloatArray | None:
        """Mean novelty of the neighbours."""
        return self.columns.get(f"neighbour:{base}")


class Reader:
    """Reads the answers of a store; those of the last few units are kept.

    Args:
        store: Where the answers are.
        streams: By name, for their labels.
        current: Whether the digest of the code behind a name is that of today; answers and failures of other code are
            as if they were not there. By default all of them count.
        stale: Keys of fits that other code made: they are as if they were not there.
    """

    def __init__(
        self,
        store: RunStore,
        streams: Mapping[str, Stream],
        current: Callable[[str, str], bool] = lambda name, source: True,
        stale: Container[str] = (),
    ) -> None:
        self.store, self.current, self.stale = store, current, stale
        self._labels = {name: _labels_of(stream) for name, stream in streams.items()}
        self._cached = lru_cache(maxsize=_KEPT)(self._read)

    def answered(self, unit: Unit) -> Answered | None:
        """The answers of a unit; None if there are none."""
        return self._cached(unit)

    def record(self, unit: Unit) -> FitRecord | None:
        """What is noted of a unit's fit; None if there is none."""
        return None if unit.key in self.stale else self.store.fit(unit.key)

    def forget(self) -> None:
        """Reads anew what was kept, because the store has grown."""
        self._cached.cache_clear()

    def failures(self, record: FitRecord | None) -> dict[str, str]:
        """Reasons of what could not be answered, by name."""
        if record is None:
            return {}
        return {
            name: reason
            for name, reason in record.failed.items()
            if self.current(name, record.failed_sources.get(name, ""))
        }

    def _current(self, key: str) -> dict[str, Any]:
        stale = {name for name, source in self.store.sources(key).items() if not self.current(name, source)}
        return {name: values for name, values in self.store.columns(key).items() if name.partition(":")[2] not in stale}

    def _read(self, unit: Unit) -> Answered | None:
        record = self.record(unit)
        if record is None or record.status != "ok" or not self.store.has_answers(unit.key):
            return None
        columns = self._current(unit.key)
        missing = [name for name in ("vertex", "class_pred", "confidence") if name not in columns]
        if missing:
            raise DataError(f"{self.store.folder}/answers/{unit.key}.parquet has no column '{missing[0]}'")
        truth = self._labels[unit.chain.stream](columns["vertex"])
        known = np.array(record.known, dtype=np.int64)
        new = ~np.isin(truth, known)
        return Answered(unit.time, unit.role, unit.fold, truth, known, new, columns["class_pred"], columns)


def _labels_of(stream: Stream) -> Callable[[IntArray], IntArray]:
    place = positions(stream.ids)

    def labels(ids: IntArray) -> IntArray:
        at = place(ids)
        if (at < 0).any():
            raise DataError(f"vertex {int(ids[at < 0][0])} of the answers is not in the stream {stream.name}")
        return stream.labels[at]

    return labels
