"""Carrying a plan out: only what the store does not have yet, parents before children, failures kept apart.

The driver alone writes the store; workers get plain orders and give plain results back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from lgl_bench.core.errors import printable
from lgl_bench.runs.execute import Done, Order
from lgl_bench.runs.fit_cache import FitCache, LostWeightsError
from lgl_bench.runs.missing import Missing, Wanted
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.pool import Outcome
from lgl_bench.runs.progress import Best, Event, Listener
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.settings import Checkpoints
from lgl_bench.runs.store import RunStore, weights_digest
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
        again: Whether everything is done again.
        plugins: Digest of the plugin files of the run: a fit that failed is tried again with others.
    """

    def __init__(
        self,
        plan: Plan,
        store: RunStore,
        engine: Engine,
        checkpoints: Checkpoints = "all",
        listener: Listener | None = None,
        best: Best | None = None,
        *,
        again: bool = False,
        plugins: str = "",
    ) -> None:
        self.plan, self.store, self.engine = plan, store, engine
        self.listener, self.best = listener, best
        self.counts = Counts()
        self._again, self._plugins = again, plugins
        self._fits = FitCache(plan, store, checkpoints, again=again)
        self._missing = Missing(plan, self._fits, again=again)
        self._disabled: dict[str, str] = {}

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
            todo = self._missing.of_chain(chain, units, roles, decisions.get(chain, ()))
            self.counts.units += len(todo)
            linked = any(unit.parent for unit in units)
            queues += [deque(todo)] if linked else [deque([item]) for item in todo]
        waiting = deque(queue for queue in queues if queue)
        running: dict[str, tuple[deque[Wanted], Wanted]] = {}
        while waiting or running:
            while waiting and self.engine.free:
                queue = waiting.popleft()
                item = queue.popleft()
                try:
                    order = self._order(item)
                except LostWeightsError as error:
                    self._give_up(item, queue, str(error))
                    if queue:
                        waiting.appendleft(queue)
                    continue
                running[item.unit.key] = queue, item
                self.engine.submit(order)
                self._tell("start", item.unit)
            if not running:
                continue
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
            _drop(unit, queue)
        if not (queue and queue[0].unit.key == unit.key):
            self._fits.release(unit)

    def _give_up(self, item: Wanted, queue: deque[Wanted], reason: str) -> None:
        """A unit that cannot be done in this run; what is in the store of it stays."""
        _drop(item.unit, queue)
        self.counts.done += 1
        self.counts.failed[item.unit.key] = reason
        self._tell("failed", item.unit, reason=reason)

    def run_matrix(self) -> None:
        """Lets every fit whose weights are kept answer for every year."""
        wanted = deque(unit for unit in self.plan.all_units if self._lacks_matrix(unit))
        while wanted or self.engine.running:
            while wanted and self.engine.free:
                unit = wanted.popleft()
                self.engine.submit(Order(unit, (), weights=self._fits.weights(unit.key), matrix=True))
            for outcome in self.engine.collect():
                unit, record = outcome.order.unit, self._fits.record(outcome.order.unit.key)
                if outcome.done is None or record is None:
                    self.counts.failed[f"{unit.key}:matrix"] = printable(outcome.reason)
                else:
                    self._fits.write(unit.key, record.but(matrix=outcome.done.matrix))
        self._fits.flush()

    def _lacks_matrix(self, unit: Unit) -> bool:
        record = self._fits.record(unit.key)
        wanted = record is not None and record.status == "ok" and record.matrix is None
        return wanted and bool(self._fits.weights(unit.key))

    def _tell(self, kind: Literal["start", "epoch", "done", "failed"], unit: Unit, **more: Any) -> None:
        if self.listener is not None:
            best = self.best.on(unit.chain.stream) if self.best is not None else ""
            counts = self.counts
            self.listener(Event(kind, unit, counts.done, counts.units, len(counts.failed), best=best, **more))

    def _epoch(self, order: Order, epoch: int) -> None:
        self._tell("epoch", order.unit, epoch=epoch)

    def _order(self, item: Wanted) -> Order:
        asked = [*item.detectors, *(f"{name}|{threshold}" for name in item.decide for threshold in item.thresholds)]
        item.given_up = {name: self._disabled[name] for name in asked if name in self._disabled}
        item.detectors = tuple(name for name in item.detectors if name not in self._disabled)
        item.decide = tuple(
            name
            for name in item.decide
            if not any(part in self._disabled for part in (name, *(f"{name}|{one}" for one in item.thresholds)))
        )
        own = None if item.fit else self._fits.weights(item.unit.key)
        if own is None and not item.fit:
            raise LostWeightsError(f"the weights of the fit {item.unit.key} are not there")
        before = self._fits.before(item.unit)
        if item.decide:
            return Order(item.unit, item.decide, item.thresholds, own, before)
        return Order(item.unit, item.detectors, (), own, before)

    def _finish(self, item: Wanted, outcome: Outcome) -> list[Wanted]:
        """Stores what came, and returns what is still to do for the unit."""
        unit, done = item.unit, outcome.done
        if done is None:
            return self._blame(item, printable(outcome.reason))
        record, replaced = self._record(unit, done)
        if record is None:
            reason = f"the fit {unit.key}, made again because its weights are not there, came out differently"
            self.counts.failed[unit.key] = f"{reason}; its answers stay as they are, --force makes all of them again"
            return []
        failed = {name: printable(reason) for name, reason in {**done.failed, **item.given_up}.items()}
        answered = column_digests([] if done.answers is None else done.answers.columns)
        self._missing.note(unit, (*failed, *answered))
        record = record.graded(answered, failed, {name: named_digest(name) for name in failed})
        self.counts.busy_seconds += done.seconds
        if done.answers is not None and self.best is not None:
            self.best.note(unit, done.answers, record.known)
        if done.noted is not None or failed or done.answers is not None:
            self._fits.write(unit.key, record, done.weights, done.answers, replace=replaced)
        self.counts.failed.update({f"{unit.key}:{name}": reason for name, reason in failed.items()})
        if record.status == "diverged":
            self.counts.failed[unit.key] = f"diverged: {record.reason}"
        if item.decide and item.detectors:
            rest = tuple(name for name in item.detectors if name not in item.decide)
            return [replace(item, fit=False, detectors=rest, decide=())] if rest else []
        return []

    def _record(self, unit: Unit, done: Done) -> tuple[FitRecord | None, bool]:
        """What is to be noted of a unit, and whether the answers of an older fit go.

        A fit that is made again, because its weights are gone, must come out as it was: other weights beside the
        answers of the old ones would make rows of two models. If it does not, there is nothing to be noted.
        """
        if done.noted is None:
            return self._fits.record(unit.key), False
        made = FitRecord(**{**done.noted, "reason": printable(done.noted["reason"])})
        old = self._fits.stored(unit.key)
        if old is None or old.status != "ok":
            return made, False
        digest = None if done.weights is None else weights_digest(done.weights)
        if digest == old.weights:
            same = made.but(failed=old.failed, failed_sources=old.failed_sources, matrix=old.matrix, weights=digest)
            return same, False
        return (made, True) if self._again else (None, False)

    def _blame(self, item: Wanted, reason: str) -> list[Wanted]:
        """A worker died or was killed: the fit alone first, then every detector alone, to find who it was."""
        unit = item.unit
        names = [*item.detectors, *item.decide]
        if len(names) > 1 or (names and item.fit):
            alone = [replace(item, detectors=(), decide=())] if item.fit else []
            alone += [replace(item, fit=False, detectors=(name,), decide=()) for name in item.detectors]
            return alone + [replace(item, fit=False, detectors=(), decide=(name,)) for name in item.decide]
        record = self._fits.record(unit.key)
        if names and record is not None:
            keys = [names[0]] if item.detectors else [f"{names[0]}|{threshold}" for threshold in item.thresholds]
            sources = {key: named_digest(key) for key in keys}
            self._fits.write(unit.key, record.graded((), dict.fromkeys(keys, reason), sources))
            self._missing.note(unit, keys)
            # Once is enough: a plugin that hangs would cost the time limit again in every unit.
            self._disabled |= dict.fromkeys(keys, f"{reason} (in an earlier unit of this run)")
        elif record is None or record.status != "ok":
            before = self._fits.predecessor(unit)
            about: dict[str, Any] = {"key": unit.key, "parent": unit.parent, "time": unit.time, "role": unit.role}
            about |= {"fold": unit.fold, "continued_from": before.key if before else "", "plugins": self._plugins}
            self._fits.write(unit.key, FitRecord(status="failed", reason=reason, **about))
        self.counts.failed[f"{unit.key}:{names[0] if names else 'fit'}"] = reason
        return []


def _drop(unit: Unit, queue: deque[Wanted]) -> None:
    while queue and queue[0].unit.key == unit.key:
        queue.popleft()
