"""Carrying a plan out: only what the store does not have yet, parents before children, failures kept apart.

The driver alone writes the store; workers get plain orders and give plain results back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from lgl_bench.runs.execute import Order
from lgl_bench.runs.fit_cache import FitCache
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.pool import Outcome
from lgl_bench.runs.progress import Best, Event, Listener
from lgl_bench.runs.settings import Checkpoints
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.units import ChainSpec, Unit, column_digests, named_digest


class Engine(Protocol):
    """Where orders are carried out."""

    @property
    def free(self) -> int:
        """How many orders can be taken at once."""

    @property
    def running(self) -> list[Order]:
        """Orders under way."""

    def submit(self, order: Order) -> None:
        """Takes an order."""

    def collect(self, on_epoch: Callable[[Order, int], None] | None = None) -> list[Outcome]:
        """Waits for at least one to end; meanwhile tells the epochs of fits that are under way, where it can."""

    def close(self) -> None:
        """Ends what is still running."""


@dataclass(slots=True)
class Wanted:
    """What is still missing of a unit."""

    unit: Unit
    fit: bool
    detectors: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    decide: tuple[str, ...] = ()
    given_up: dict[str, str] = field(default_factory=dict)

    @property
    def anything(self) -> bool:
        """Whether there is work."""
        return self.fit or bool(self.detectors) or bool(self.decide)


@dataclass(slots=True)
class Counts:
    """How a run went.

    Attributes:
        units: Units there were to do.
        done: Units that have ended.
        failed: What failed, with the reason.
        busy_seconds: Spent training and scoring, all workers together.
    """

    units: int = 0
    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    busy_seconds: float = 0.0


class Driver:
    """Carries a plan out on an engine.

    Args:
        plan: What to do.
        store: Where it goes.
        engine: Who does it.
        checkpoints: Which weights are kept.
        listener: Is told what happens.
        best: Keeps the best method so far, for the listener.
    """

    def __init__(
        self,
        plan: Plan,
        store: RunStore,
        engine: Engine,
        checkpoints: Checkpoints = "all",
        listener: Listener | None = None,
        best: Best | None = None,
    ) -> None:
        self.plan, self.store, self.engine = plan, store, engine
        self.listener, self.best = listener, best
        self.counts = Counts()
        self._fits = FitCache(plan, store, checkpoints)
        self._condemned: dict[str, str] = {}

    def run(
        self, roles: Iterable[str] = ("validation", "test"), decisions: dict[ChainSpec, tuple[str, ...]] | None = None
    ) -> Counts:
        """Does what is missing of the units with these roles.

        Args:
            roles: Which units.
            decisions: Per chain, detectors to decide for with the plan's thresholds.
        """
        try:
            self._run(set(roles), decisions or {})
        finally:
            self._fits.flush()
        return self.counts

    def _run(self, roles: set[str], decisions: dict[ChainSpec, tuple[str, ...]]) -> None:
        queues = []
        for chain, units in self.plan.units.items():
            wanted = self._wanted(chain, units, roles, decisions.get(chain, ()))
            todo = [item for item in wanted if item.anything]
            self.counts.units += len(todo)
            linked = any(unit.parent for unit in units)
            queues += [deque(todo)] if linked else [deque([item]) for item in todo]
        waiting = deque(queue for queue in queues if queue)
        running: dict[str, tuple[deque[Wanted], Wanted]] = {}
        while waiting or running:
            while waiting and self.engine.free:
                queue = waiting.popleft()
                item = queue.popleft()
                running[item.unit.key] = queue, item
                self.engine.submit(self._order(item))
                self._tell("start", item.unit)
            for outcome in self.engine.collect(self._epoch):
                queue, item = running.pop(outcome.order.unit.key)
                failures = len(self.counts.failed)
                again = self._finish(item, outcome)
                queue.extendleft(reversed(again))
                self._settle(item.unit, queue)
                if queue:
                    # The next year first: its worker still holds the stream and its tasks.
                    waiting.appendleft(queue)
                if not again:
                    self.counts.done += 1
                    reasons = list(self.counts.failed.values())[failures:]
                    seconds = outcome.done.seconds if outcome.done else 0.0
                    self._tell("failed" if reasons else "done", item.unit, seconds=seconds, reason="; ".join(reasons))

    def _settle(self, unit: Unit, queue: deque[Wanted]) -> None:
        """Drops what cannot be done any more for a unit, and what nobody needs once nothing is left to do for it."""
        if self._fits.status(unit.key) not in ("ok", None):
            # Without a fit there is nothing to score, and a detector tried alone would be blamed for it.
            while queue and queue[0].unit.key == unit.key:
                queue.popleft()
        if not (queue and queue[0].unit.key == unit.key):
            self._fits.release(unit)

    def run_matrix(self) -> None:
        """Lets every fit whose weights are kept answer for every year."""
        wanted = deque(unit for unit in self.plan.all_units if self._lacks_matrix(unit))
        while wanted or self.engine.running:
            while wanted and self.engine.free:
                unit = wanted.popleft()
                self.engine.submit(Order(unit, (), weights=self._fits.weights(unit.key), matrix=True))
            for outcome in self.engine.collect():
                unit, noted = outcome.order.unit, self.store.fit(outcome.order.unit.key)
                if outcome.done is None or noted is None:
                    self.counts.failed[f"{unit.key}:matrix"] = outcome.reason
                else:
                    self.store.write_fit(
                        unit.key, {**noted, "matrix": outcome.done.matrix}, self.store.weights(unit.key)
                    )

    def _lacks_matrix(self, unit: Unit) -> bool:
        noted = self.store.fit(unit.key)
        return (
            noted is not None
            and noted["status"] == "ok"
            and "matrix" not in noted
            and bool(self._fits.weights(unit.key))
        )

    def _tell(self, kind: Literal["start", "epoch", "done", "failed"], unit: Unit, **more: Any) -> None:
        if self.listener is not None:
            best = self.best.on(unit.chain.stream) if self.best is not None else ""
            counts = self.counts
            self.listener(Event(kind, unit, counts.done, counts.units, len(counts.failed), best=best, **more))

    def _epoch(self, order: Order, epoch: int) -> None:
        self._tell("epoch", order.unit, epoch=epoch)

    def _wanted(self, chain: ChainSpec, units: list[Unit], roles: set[str], decide: tuple[str, ...]) -> list[Wanted]:
        """What is missing of each unit of a chain, what later ones need of it included."""
        found = []
        for unit in units:
            scored = self.plan.scored[chain]
            if unit.role == "validation":
                scored = [*scored, *(name for name in self.plan.tried[chain] if name not in scored)]
            found.append(self._missing(unit, scored, decide, unit.role in roles))
        for child, item in zip(reversed(units), reversed(found), strict=True):
            noted = self.store.fit(child.key)
            ended_badly = noted is not None and noted["status"] != "ok"
            if item.anything and not item.fit and not ended_badly and self._fits.weights(child.key) is None:
                item.fit = True
            before = self._fits.predecessor(child) if item.anything else None
            if before is not None and self._fits.weights(before.key) is None:
                found[before.index].fit = True
        return found

    def _missing(self, unit: Unit, scored: list[str], decide: tuple[str, ...], active: bool) -> Wanted:
        noted = self.store.fit(unit.key)
        if not active:
            return Wanted(unit, fit=False)
        if noted is not None and noted["status"] != "ok":
            return Wanted(unit, fit=False)
        failed = noted.get("failed", {}) if noted else {}
        sources = noted.get("sources", {}) if noted else {}
        there = self.store.answer_columns(unit.key)

        def lacks(column: str, name: str) -> bool:
            """Whether an answer is not there, or was made by another source of its plugin."""
            return name not in failed and (column not in there or sources.get(name) != named_digest(name))

        detectors = tuple(name for name in scored if lacks(f"novelty:{name}", name))
        undecided = tuple(
            name
            for name in decide
            for threshold in self.plan.thresholds
            if lacks(f"rejected:{name}|{threshold}", f"{name}|{threshold}")
        )
        return Wanted(unit, noted is None, detectors, self.plan.thresholds, tuple(dict.fromkeys(undecided)))

    def _order(self, item: Wanted) -> Order:
        item.given_up = {name: why for name, why in self._condemned.items() if name in (*item.detectors, *item.decide)}
        item.detectors = tuple(name for name in item.detectors if name not in item.given_up)
        item.decide = tuple(name for name in item.decide if name not in item.given_up)
        own = None if item.fit else self._fits.weights(item.unit.key)
        before = self._fits.before(item.unit)
        if item.decide:
            return Order(item.unit, item.decide, item.thresholds, own, before)
        return Order(item.unit, item.detectors, (), own, before)

    def _finish(self, item: Wanted, outcome: Outcome) -> list[Wanted]:
        """Stores what came, and returns what is still to do for the unit."""
        unit, done = item.unit, outcome.done
        if done is None:
            return self._blame(item, outcome.reason)
        noted = done.noted or self._fits.record(unit.key) or {}
        done.failed |= item.given_up
        noted["failed"] = {**noted.get("failed", {}), **done.failed}
        self.counts.busy_seconds += done.seconds
        if done.answers is not None:
            noted["sources"] = {**noted.get("sources", {}), **column_digests(done.answers.columns)}
            if self.best is not None:
                self.best.note(unit, done.answers, noted["known"])
        if done.noted is not None or done.failed or done.answers is not None:
            self._fits.write(unit.key, noted, done.weights, done.answers)
        self.counts.failed.update({f"{unit.key}:{name}": reason for name, reason in done.failed.items()})
        if noted.get("status") == "diverged":
            self.counts.failed[unit.key] = f"diverged: {noted['reason']}"
        if item.decide and item.detectors:
            rest = tuple(name for name in item.detectors if name not in item.decide)
            return [replace(item, fit=False, detectors=rest, decide=())] if rest else []
        return []

    def _blame(self, item: Wanted, reason: str) -> list[Wanted]:
        """A worker died or was killed: the fit alone first, then every detector alone, to find who it was."""
        unit = item.unit
        names = [*item.detectors, *item.decide]
        if len(names) > 1 or (names and item.fit):
            alone = [replace(item, detectors=(), decide=())] if item.fit else []
            alone += [replace(item, fit=False, detectors=(name,), decide=()) for name in item.detectors]
            return alone + [replace(item, fit=False, detectors=(), decide=(name,)) for name in item.decide]
        noted = self._fits.record(unit.key)
        if names and noted is not None:
            key = names[0] if item.detectors else f"{names[0]}|{item.thresholds[0]}"
            failed = {**noted.get("failed", {}), key: reason}
            if item.decide:
                failed |= {f"{names[0]}|{threshold}": reason for threshold in item.thresholds}
            self._fits.write(unit.key, {**noted, "failed": failed})
            # Once is enough: a plugin that hangs would cost the time limit again in every unit.
            self._condemned[names[0]] = f"{reason} (in an earlier unit of this run)"
        else:
            before = self._fits.predecessor(unit)
            about: dict[str, Any] = {"key": unit.key, "parent": unit.parent, "time": unit.time}
            about |= {"role": unit.role, "fold": unit.fold, "continued_from": before.key if before else ""}
            self._fits.write(unit.key, {"status": "failed", "reason": reason, **about})
        self.counts.failed[f"{unit.key}:{names[0] if names else 'fit'}"] = reason
        return []
