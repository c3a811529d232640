"""The fits of a run as its driver sees them: written in the background, with weights held until nobody needs them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pandas as pd

from lgl_bench.runs.execute import Fitted
from lgl_bench.runs.lineage import predecessor
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.settings import Checkpoints
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.units import Unit


class FitCache:
    """Records and weights of fits, on the disk or on the way there.

    Args:
        plan: Whose units.
        store: Where they go.
        checkpoints: Which weights are kept on the disk.
    """

    def __init__(self, plan: Plan, store: RunStore, checkpoints: Checkpoints) -> None:
        self.store, self.checkpoints = store, checkpoints
        self._units = {unit.key: unit for unit in plan.all_units}
        self._weights: dict[str, bytes] = {}
        self._status: dict[str, str] = {}
        self._writer = ThreadPoolExecutor(max_workers=1)
        self._pending: deque[Future[None]] = deque()

    def status(self, key: str) -> str | None:
        """How a fit ended; None if there is none."""
        found = self._status.get(key)
        if found is None:
            record = self.store.fit(key)
            found = None if record is None else str(record["status"])
        return found

    def record(self, key: str) -> dict[str, Any] | None:
        """What fit.json holds."""
        self.flush()
        return self.store.fit(key)

    def weights(self, key: str) -> bytes | None:
        """The weights of a fit; None if they were not kept."""
        found = self._weights.get(key)
        if found is None:
            self.flush()
            found = self.store.weights(key)
        return found

    def predecessor(self, unit: Unit) -> Unit | None:
        """The unit that this one goes on from and is calibrated with."""
        return predecessor(unit, self._units, self.status)

    def before(self, unit: Unit) -> Fitted | None:
        """The same with its weights."""
        found = self.predecessor(unit)
        weights = None if found is None else self.weights(found.key)
        return None if found is None or weights is None else Fitted(found, weights)

    def write(
        self, key: str, record: dict[str, Any], weights: bytes | None = None, answers: pd.DataFrame | None = None
    ) -> None:
        """Keeps a fit, with new weights and new answers if there are any."""
        self._status[key] = str(record["status"])
        if weights is not None:
            self._weights[key] = weights
        kept = weights if self.checkpoints != "none" else None
        self._enqueue_write(self._write, key, answers, record, kept)

    def release(self, unit: Unit) -> None:
        """Drops the weights a unit went on from, once nothing is left to do for it.

        The units after it go on from it, unless its fit failed: then they need the same weights.
        """
        before = self.predecessor(unit)
        if before is None or self.status(unit.key) != "ok":
            return
        self._weights.pop(before.key, None)
        if self.checkpoints == "last":
            self._enqueue_write(self.store.drop_weights, before.key)

    def flush(self) -> None:
        """Waits until everything is on the disk."""
        while self._pending:
            self._pending.popleft().result()

    def _write(self, key: str, answers: pd.DataFrame | None, record: dict[str, Any], weights: bytes | None) -> None:
        if answers is not None:
            self.store.add_answers(key, answers)
        self.store.write_fit(key, record, weights or self.store.weights(key))

    def _enqueue_write(self, job: Callable[..., None], *given: Any) -> None:
        """Writes in the background, in order, so that a free worker gets its next order before the disk is done."""
        self._pending.append(self._writer.submit(job, *given))
        while self._pending and self._pending[0].done():
            self._pending.popleft().result()
