"""Stored answers beside the truth: what grading and choosing read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lgl_bench.core.types import BoolArray, FloatArray, IntArray
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
        store: Where they are.
        streams: Where the truth is.
        absent: Why a fit that is not in the store counts as failed; if empty, nothing is said of it.
    """

    def __init__(self, store: RunStore, streams: dict[str, Stream], absent: str = "") -> None:
        self.store = store
        self._absent = absent
        self._labels = {name: _labels_of(stream) for name, stream in streams.items()}
        self._cached = lru_cache(maxsize=_KEPT)(self._read)

    def answered(self, unit: Unit) -> Answered | None:
        """The answers of a unit; None where there are none."""
        return self._cached(unit)

    def record(self, unit: Unit) -> dict[str, Any] | None:
        """What was noted of the fit of a unit; None if nothing is to be said of it."""
        found = self.store.fit(unit.key)
        return {"status": "failed", "reason": self._absent} if found is None and self._absent else found

    def forget(self) -> None:
        """Reads anew what was kept, because the store has grown."""
        self._cached.cache_clear()

    def _read(self, unit: Unit) -> Answered | None:
        noted = self.store.fit(unit.key)
        if noted is None or noted["status"] != "ok" or not self.store.has_answers(unit.key):
            return None
        columns = self.store.columns(unit.key)
        truth = self._labels[unit.chain.stream](columns["vertex"])
        known = np.array(noted["known"], dtype=np.int64)
        new = ~np.isin(truth, known)
        return Answered(unit.time, unit.role, unit.fold, truth, known, new, columns["class_pred"], columns)


def _labels_of(stream: Stream) -> Callable[[IntArray], IntArray]:
    place = positions(stream.ids)
    return lambda ids: stream.labels[place(ids)]
