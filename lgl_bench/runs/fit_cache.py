"""The fits of a run as it sees them: on the disk or on the way there, with weights held until nobody needs them."""

from __future__ import annotations

from functools import partial

import pandas as pd

from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.types import IntArray
from lgl_bench.plans.fits import Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.answer_digests import column_digests
from lgl_bench.runs.lineage import predecessor
from lgl_bench.runs.options import Checkpoints
from lgl_bench.runs.orders import Fitted, Left
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import RunStore, weights_digest
from lgl_bench.runs.writer import BackgroundWriter


class LostWeightsError(LglBenchError):
    """Weights that a unit needs should be there and are not."""


class FitCache:
    """Records and weights of fits.

    Args:
        plan: Whose units.
        store: Where they go.
        checkpoints: Which weights are kept on the disk.
        force: Whether every fit of the plan is made again: one in the store counts only once this run has written it.
    """

    def __init__(self, plan: Plan, store: RunStore, checkpoints: Checkpoints, *, force: bool = False) -> None:
        self.store, self.checkpoints = store, checkpoints
        self._units = {unit.key: unit for unit in plan.all_units}
        self._outstanding = set(self._units) if force else set()
        self._weights: dict[str, bytes] = {}
        self._memories: dict[str, bytes] = {}
        self._status: dict[str, str] = {}
        self._writer = BackgroundWriter()

    def status(self, key: str) -> str | None:
        """How a fit ended; None if there is none."""
        found = self._status.get(key)
        if found is None:
            # What this run has not written is not on the way either: nothing to wait for.
            record = None if key in self._outstanding else self.store.fit(key)
            found = None if record is None else record.status
        return found

    def record(self, key: str) -> FitRecord | None:
        """The record of a fit; None if there is none that counts."""
        return None if key in self._outstanding else self.stored(key)

    def stored(self, key: str) -> FitRecord | None:
        """The record of a fit, whether or not it is to be made again."""
        self.flush()
        return self.store.fit(key)

    def sources(self, key: str) -> dict[str, str]:
        """Digests of the code behind the answers that are there."""
        if key in self._outstanding:
            return {}
        self.flush()
        return self.store.sources(key)

    def weights(self, key: str) -> bytes | None:
        """The weights of a fit; None if they were not kept."""
        found = self._weights.get(key)
        if found is None and key not in self._outstanding:
            self.flush()
            found = self.store.weights(key)
        return found

    def predecessor(self, unit: Unit) -> Unit | None:
        """The unit that this one goes on from and is calibrated with."""
        return predecessor(unit, self._units, self.status)

    def before(self, unit: Unit) -> Fitted | None:
        """The same with its weights.

        Raises:
            LostWeightsError: There is one, and its weights are gone. Without them calibration would be another.
        """
        found = self.predecessor(unit)
        if found is None:
            return None
        weights = self.weights(found.key)
        if weights is None:
            raise LostWeightsError(
                f"the weights of the fit {found.key}, which {unit.fold or unit.time} goes on from, are not there"
            )
        return Fitted(found, weights, self.left(found))

    def left(self, unit: Unit) -> Left | None:
        """What the fit before a unit left for it; None if there is none."""
        before = self.predecessor(unit)
        if before is None:
            return None
        found = self._memories.get(before.key)
        if found is None and before.key not in self._outstanding:
            self.flush()
            found = self.store.memory(before.key)
        return Left(before, found)

    def write(
        self,
        key: str,
        record: FitRecord,
        weights: bytes | None = None,
        answers: pd.DataFrame | None = None,
        *,
        replace: bool = False,
        memory: bytes | None = None,
        matrix: IntArray | None = None,
    ) -> None:
        """Keeps a fit, with what is new of it; `replace` drops the answers of before."""
        self._status[key] = record.status
        self._outstanding.discard(key)
        if weights is not None:
            self._weights[key] = weights
            record = record.but(weights=weights_digest(weights))
        if memory is not None:
            self._memories[key] = memory
        sources = {} if answers is None else column_digests(answers.columns)
        kept = weights if self.checkpoints != "none" else None
        write = partial(self.store.write_fit, replace=replace, memory=memory, matrix=matrix)
        self._writer.enqueue(partial(write, key, record, kept, answers, sources))

    def release(self, unit: Unit) -> None:
        """Drops the weights a unit went on from, once nothing is left to do for it.

        The units after it go on from it, unless its fit failed: then they need the same weights.
        """
        before = self.predecessor(unit)
        if before is None or self.status(unit.key) != "ok":
            return
        self._weights.pop(before.key, None)
        oldest = self.predecessor(before)
        if oldest is not None:  # the memory that the fit before was given is on the disk, for whoever needs it again
            self._memories.pop(oldest.key, None)
        if self.checkpoints == "last":
            self._writer.enqueue(partial(self.store.drop_weights, before.key))

    def flush(self) -> None:
        """Waits until everything is on the disk."""
        self._writer.flush()
