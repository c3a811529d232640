"""Carrying a plan out: only what the store does not have yet, parents before children, failures kept apart.

The process of the run alone writes the store; workers get plain orders and return plain results.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lgl_bench.core.errors import printable
from lgl_bench.plans.fits import ChainSpec, Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.engines.base import Engine, Outcome
from lgl_bench.runs.failures import Failures
from lgl_bench.runs.fit_cache import FitCache, LostWeightsError
from lgl_bench.runs.missing import Missing, UnitWork
from lgl_bench.runs.options import Checkpoints
from lgl_bench.runs.orders import Order
from lgl_bench.runs.progress import BestSoFar, Counts, Listener, Reporter
from lgl_bench.runs.results import Results
from lgl_bench.runs.store import RunStore


@dataclass(slots=True)
class _Queue:
    """Work that is done one after the other: that of a chain whose years go on from each other, or one unit's.

    Attributes:
        work: What is to be done, in order; the first is under way if an order is.
        disabled: Reasons of answers that were left out of the order under way.
    """

    work: deque[UnitWork]
    disabled: dict[str, str] = field(default_factory=dict)

    def drop(self, unit: Unit) -> None:
        """Drops what is next, as long as it is of a unit."""
        while self.work and self.work[0].unit.key == unit.key:
            self.work.popleft()


class Scheduler:
    """Carries a plan out on an engine.

    Args:
        plan: What to do.
        store: Where it goes.
        engine: Who does it.
        checkpoints: Which weights are kept.
        listener: Called with every event.
        best: Keeps the best method so far, for the listener.
        force: Whether everything is done again.
        matrix: Whether every model answers for every year.
        plugins: Digest of the plugin files of the run: a fit that failed is tried again with others.
    """

    def __init__(
        self,
        plan: Plan,
        store: RunStore,
        engine: Engine,
        checkpoints: Checkpoints = "all",
        listener: Listener | None = None,
        best: BestSoFar | None = None,
        *,
        force: bool = False,
        matrix: bool = False,
        plugins: str = "",
    ) -> None:
        self.plan, self.engine, self.matrix = plan, engine, matrix
        self.counts = Counts()
        self._reporter = Reporter(self.counts, listener, best)
        self._fits = FitCache(plan, store, checkpoints, force=force)
        self._missing = Missing(plan, self._fits, force=force)
        self._failures = Failures(self._fits, self._missing, self.counts.failed, plugins)
        self._results = Results(self._fits, self._missing, self._failures, best, force=force)
        self._waiting: deque[_Queue] = deque()
        self._running: dict[str, tuple[_Queue, UnitWork]] = {}

    def run(
        self,
        roles: Iterable[str] = ("validation", "test"),
        decisions: Mapping[ChainSpec, tuple[str, ...]] | None = None,
    ) -> Counts:
        """Does what is missing of the units with these roles.

        Args:
            roles: Which units.
            decisions: Per chain, detectors to decide for with the plan's thresholds.
        """
        try:
            self._enqueue(set(roles), decisions or {})
            while self._waiting or self._running:
                self._submit_waiting()
                if self._running:
                    for outcome in self.engine.collect(self._reporter.epoch):
                        self._finish(outcome)
        finally:
            self._fits.flush()
        return self.counts

    def run_matrix(self) -> None:
        """Lets every fit of a chain that has not answered for every year, and whose weights are kept, do so."""
        waiting = deque(unit for unit in self.plan.all_units if self._lacks_matrix(unit))
        while waiting or self.engine.running:
            while waiting and self.engine.free:
                unit = waiting.popleft()
                self.engine.submit(Order(unit, (), weights=self._fits.weights(unit.key), matrix=True))
            for outcome in self.engine.collect():
                unit, record = outcome.order.unit, self._fits.record(outcome.order.unit.key)
                if outcome.done is None or record is None:
                    self._failures.note(unit, {"matrix": printable(outcome.reason)})
                else:
                    self._fits.write(unit.key, record, matrix=outcome.done.matrix)
        self._fits.flush()

    def _enqueue(self, roles: set[str], decisions: Mapping[ChainSpec, tuple[str, ...]]) -> None:
        self._waiting.clear()
        self._running.clear()
        for chain, units in self.plan.units.items():
            missing = self._missing.of_chain(chain, units, roles, decisions.get(chain, ()))
            self.counts.units += len(missing)
            linked = any(unit.parent for unit in units)
            parts = [missing] if linked else [[work] for work in missing]
            self._waiting.extend(_Queue(deque(part)) for part in parts if part)

    def _submit_waiting(self) -> None:
        """Submits as many orders as the engine takes."""
        while self._waiting and self.engine.free:
            queue = self._waiting.popleft()
            work, queue.disabled = self._failures.split_disabled(queue.work.popleft())
            try:
                order = self._order(work)
            except LostWeightsError as error:
                self._give_up(work.unit, queue, str(error))
                continue
            self._running[work.unit.key] = queue, work
            self.engine.submit(order)
            self._reporter.report("start", work.unit)

    def _order(self, work: UnitWork) -> Order:
        weights = None if work.fit else self._fits.weights(work.unit.key)
        if weights is None and not work.fit:
            raise LostWeightsError(f"the weights of the fit {work.unit.key} are not there")
        before, left = self._fits.before(work.unit), self._fits.left(work.unit)
        # A model that has just been fitted need not be sent and restored again.
        matrix = self.matrix and work.fit and bool(work.unit.chain.strategy.name)
        if work.decide:
            return Order(work.unit, work.decide, work.thresholds, weights, before, matrix, left)
        return Order(work.unit, work.detectors, (), weights, before, matrix, left)

    def _give_up(self, unit: Unit, queue: _Queue, reason: str) -> None:
        """Leaves a unit out that cannot be done in this run; what is in the store of it stays."""
        queue.drop(unit)
        if queue.work:
            self._waiting.appendleft(queue)
        self.counts.done += 1
        self.counts.failed[unit.key] = reason
        self._reporter.report("failed", unit, reason=reason)

    def _finish(self, outcome: Outcome) -> None:
        """Takes an outcome in, and goes on with the queue it belongs to."""
        unit, done = outcome.order.unit, outcome.done
        queue, work = self._running.pop(unit.key)
        failures = len(self.counts.failed)
        if done is None:
            rest = self._failures.isolate(work, printable(outcome.reason))
        else:
            rest = self._results.keep(work, done, queue.disabled)
            self.counts.busy_seconds += done.seconds
        queue.work.extendleft(reversed(rest))
        self._settle(unit, queue)
        if queue.work:
            # The next year first: its worker still holds the stream and its tasks.
            self._waiting.appendleft(queue)
        if not rest:
            self.counts.done += 1
            reasons = list(self.counts.failed.values())[failures:]
            seconds = done.seconds if done else 0.0
            self._reporter.report("failed" if reasons else "done", unit, seconds=seconds, reason="; ".join(reasons))

    def _settle(self, unit: Unit, queue: _Queue) -> None:
        """Drops what cannot be done any more for a unit, and what nobody needs once nothing is left to do for it."""
        if self._fits.status(unit.key) not in ("ok", None):
            # Without a fit there is nothing to score, and a detector tried alone would be disabled for it.
            queue.drop(unit)
        if not (queue.work and queue.work[0].unit.key == unit.key):
            self._fits.release(unit)

    def _lacks_matrix(self, unit: Unit) -> bool:
        record = self._fits.record(unit.key) if unit.chain.strategy.name else None
        lacks = record is not None and record.status == "ok" and self._fits.store.matrix_file(unit.key) is None
        return lacks and bool(self._fits.weights(unit.key))
