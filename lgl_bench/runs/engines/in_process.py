"""The engine of one job: orders are done in this process, one after the other."""

from __future__ import annotations

from typing import Self

from lgl_bench.core.guard import preserved_state
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.engines.base import Engine, OnEpoch, Outcome, attempt, engines
from lgl_bench.runs.isolation.processes import Conditions, Isolation, plugin_files
from lgl_bench.runs.options import IN_PROCESS, Settings
from lgl_bench.runs.orders import Order


@engines.register(IN_PROCESS)
class InProcess(Engine):
    """Carries orders out in this process; no limit of time or memory holds.

    Args:
        tasks: Of this process.
        isolation: Where plugins are asked that are not built in; None for this process.
    """

    def __init__(self, tasks: TaskCache, isolation: Isolation | None = None) -> None:
        self._tasks, self._isolation = tasks, isolation
        self._orders: list[Order] = []

    @classmethod
    def start(cls, settings: Settings, tasks: TaskCache) -> Self:
        """An engine for a run, with plugins in processes of their own."""
        return cls(tasks, Isolation(Conditions(plugin_files())))

    @property
    def free(self) -> int:
        """One, or none if an order waits."""
        return 1 - len(self._orders)

    @property
    def running(self) -> list[Order]:
        """The order that waits."""
        return list(self._orders)

    def submit(self, order: Order) -> None:
        """Takes an order, to be done when it is collected."""
        self._orders.append(order)

    def collect(self, on_epoch: OnEpoch | None = None) -> list[Outcome]:
        """Does the order."""
        if not self._orders:
            return []
        order = self._orders.pop()
        report = None if on_epoch is None else lambda epoch, loss: on_epoch(order, epoch)
        with preserved_state():
            return [Outcome.of(order, attempt(order, self._tasks, report, self._isolation))]

    def close(self) -> None:
        """Ends what plugins were scored in."""
        self._orders.clear()
        if self._isolation is not None:
            self._isolation.close()
