"""What every engine is: it takes orders, carries them out somewhere, and returns what became of each."""

from __future__ import annotations

import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeAlias

from lgl_bench.core.errors import LglBenchError, UnknownNameError, reason_of
from lgl_bench.core.registry import Registry
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.protocols import protocols
from lgl_bench.runs.isolation.processes import Isolation
from lgl_bench.runs.isolation.requests import answer_here
from lgl_bench.runs.options import Settings
from lgl_bench.runs.orders import Done, Order
from lgl_bench.runs.worker import execute

OnEpoch: TypeAlias = Callable[[Order, int], None]
"""Called with the epochs of orders that are under way."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an order: done, or the reason why not."""

    order: Order
    done: Done | None
    reason: str = ""

    @classmethod
    def of(cls, order: Order, result: Done | str) -> Outcome:
        """The outcome of what `attempt` returned."""
        return cls(order, None, result) if isinstance(result, str) else cls(order, result)


class Engine(ABC):
    """Where orders are carried out."""

    @classmethod
    def start(cls, settings: Settings, tasks: TaskCache) -> Self:
        """An engine for a run.

        Args:
            settings: Of the run.
            tasks: Of the process of the run, with every stream of the plan open.
        """
        return cls()

    @property
    @abstractmethod
    def free(self) -> int:
        """How many orders can be taken at once."""

    @property
    @abstractmethod
    def running(self) -> list[Order]:
        """Orders under way."""

    @abstractmethod
    def submit(self, order: Order) -> None:
        """Takes an order; only if one is free."""

    @abstractmethod
    def collect(self, on_epoch: OnEpoch | None = None) -> list[Outcome]:
        """Waits until at least one order has ended, and returns those that have; nothing if none is under way.

        Args:
            on_epoch: Called meanwhile, if the engine can, with the epoch that each running fit has reached.
        """

    @abstractmethod
    def close(self) -> None:
        """Ends what is still running; nothing is left behind."""


engines: Registry[type[Engine]] = Registry(
    "engine",
    "lgl_bench.engines",
    ("lgl_bench.runs.engines.in_process", "lgl_bench.runs.engines.local", "lgl_bench.runs.engines.ray.engine"),
)


def engine_class(name: str) -> type[Engine]:
    """The engine of that name.

    Raises:
        UnknownNameError: There is none.
    """
    try:
        return engines.get(name)
    except UnknownNameError:
        names = engines.names()
        hint = f"There are: {', '.join(names)}; --plugin loads a file with one of your own"
        raise UnknownNameError("engine", name, names, hint) from None


def start_engine(settings: Settings, tasks: TaskCache) -> Engine:
    """The engine that a run is carried out with."""
    return engine_class(settings.engine).start(settings, tasks)


def attempt(
    order: Order,
    tasks: TaskCache,
    on_epoch: Callable[[int, float], None] | None = None,
    isolation: Isolation | None = None,
) -> Done | str:
    """Does an order; whatever a plugin raises becomes the reason of its failure.

    Args:
        order: Which.
        tasks: Of this process.
        on_epoch: Called with the epochs of its fit.
        isolation: Where plugins are asked that are not built in; None for this process.
    """
    try:
        if isolation is None:
            return execute(order, tasks, on_epoch, answer_here)
        isolation.load(protocols, order.unit.chain.protocol.name)
        return execute(order, tasks, on_epoch, isolation)
    except (LglBenchError, MemoryError) as error:
        return reason_of(error)
    except (Exception, SystemExit) as error:  # plugins may raise anything; only their own rows fail
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{reason_of(error)} (in {last.name})"


class Stopwatch:
    """The time an order has taken: not until its process is ready, nor while it waits for the process of a plugin."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._spent = 0.0

    @property
    def seconds(self) -> float:
        """So far."""
        return self._spent + (0.0 if self._since is None else time.monotonic() - self._since)

    def restart(self) -> None:
        """Begins at zero."""
        self._spent, self._since = 0.0, time.monotonic()

    def reset(self) -> None:
        """Goes back to zero, and stands still."""
        self._spent, self._since = 0.0, None

    def pause(self, paused: bool) -> None:
        """Stands still, because a plugin's process has the time limit to itself, or goes on."""
        self._spent, self._since = self.seconds, None if paused else time.monotonic()
