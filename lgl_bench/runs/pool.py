"""Engines of this machine: worker processes, which are replaced when a unit hangs or eats too much memory, or none."""

from __future__ import annotations

import contextlib
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from lgl_bench.core.errors import LglBenchError, reason_of
from lgl_bench.core.guard import preserved_state
from lgl_bench.core.processes import start_module
from lgl_bench.protocols import protocols
from lgl_bench.runs.devices import memory
from lgl_bench.runs.execute import Done, Order, execute, forget_streams, provide
from lgl_bench.runs.isolation import Conditions, Isolation, plugin_files
from lgl_bench.runs.requests import answer_here
from lgl_bench.streams.stream import Stream

POLL = 0.5
"""Seconds between two looks at a worker."""
_LEAST_MEMORY = 2048.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an order: done, or the reason why not."""

    order: Order
    done: Done | None
    reason: str = ""


def attempt(
    order: Order,
    on_epoch: Callable[[int, float], None] | None = None,
    isolation: Isolation | None = None,
) -> Done | str:
    """Does an order; whatever a plugin raises becomes the reason of its failure.

    Args:
        order: Which.
        on_epoch: Is told the epochs of its fit.
        isolation: Where plugins are asked that are not built in; None for this process.
    """
    try:
        if isolation is None:
            return execute(order, on_epoch, answer_here)
        isolation.load(protocols, order.unit.chain.protocol.name)
        return execute(order, on_epoch, isolation)
    except (LglBenchError, MemoryError) as error:
        return reason_of(error)
    except (Exception, SystemExit) as error:  # plugins may raise anything; only their own rows fail
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{reason_of(error)} (in {last.name})"


class InProcess:
    """The engine of one job: orders are done in this process, one after the other.

    Args:
        streams: The streams of the plan, by name.
        data_dir: Where they were read from, as their chains name it.
    """

    def __init__(self, streams: Mapping[str, Stream], data_dir: str | None = None) -> None:
        forget_streams()
        for name, stream in streams.items():
            provide(name, data_dir, stream)
        self._isolation = Isolation(Conditions(plugin_files()))
        self._orders: list[Order] = []

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

    def collect(self, on_epoch: Callable[[Order, int], None] | None = None) -> list[Outcome]:
        """Does the order."""
        if not self._orders:
            return []
        order = self._orders.pop()
        told = None if on_epoch is None else lambda epoch, loss: on_epoch(order, epoch)
        with preserved_state():
            done = attempt(order, told, self._isolation)
        return [Outcome(order, None, done) if isinstance(done, str) else Outcome(order, done)]

    def close(self) -> None:
        """Ends what plugins were scored in, and lets the streams go."""
        self._isolation.close()
        forget_streams()


class Pool:
    """A fixed number of worker processes.

    Args:
        jobs: How many.
        time_limit: Seconds a unit may take, and a plugin that is not built in by itself; None for no limit.
        memory_limit: MiB a worker may hold, and the process of such a plugin; None for no limit of workers, and for
            an equal share of half the machine's memory for plugins.
    """

    def __init__(self, jobs: int, time_limit: float | None = None, memory_limit: float | None = None) -> None:
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        share = memory_limit or max(_LEAST_MEMORY, memory() / 2 / jobs)
        self._conditions = Conditions(plugin_files(), time_limit, share)
        self._idle: list[_Worker] = [_Worker(self._conditions) for _ in range(jobs)]
        self._busy: list[_Worker] = []

    @property
    def free(self) -> int:
        """Workers without an order."""
        return len(self._idle)

    @property
    def running(self) -> list[Order]:
        """Orders under way."""
        return [worker.order for worker in self._busy if worker.order is not None]

    def submit(self, order: Order) -> None:
        """Gives an order to a free worker."""
        worker = self._idle.pop()
        if not worker.alive:
            worker.kill()
            worker = _Worker(self._conditions)
        worker.start(order)
        self._busy.append(worker)

    def collect(self, on_epoch: Callable[[Order, int], None] | None = None) -> list[Outcome]:
        """Waits until at least one order has ended, and returns those that have."""
        while self._busy:
            wait([worker.connection for worker in self._busy], timeout=POLL)
            ended = []
            for worker in self._busy:
                outcome = self._look(worker, on_epoch)
                if outcome is not None:
                    ended.append((worker, outcome))
            for worker, _ in ended:
                self._busy.remove(worker)
                self._idle.append(worker if worker.alive else _Worker(self._conditions))
            if ended:
                return [outcome for _, outcome in ended]
        return []

    def close(self) -> None:
        """Ends every worker."""
        for worker in (*self._idle, *self._busy):
            worker.kill()

    def _look(self, worker: _Worker, on_epoch: Callable[[Order, int], None] | None) -> Outcome | None:
        order = worker.order
        assert order is not None
        message = worker.message()
        if message is not None:
            kind, content = message
            if kind == "epoch" and on_epoch is not None:
                on_epoch(order, content)
            if kind != "done":
                return None
            return Outcome(order, None, content) if isinstance(content, str) else Outcome(order, content)
        if not worker.alive:
            worker.kill()
            return Outcome(order, None, f"the worker process died (exit code {worker.exit_code})")
        if self.memory_limit is not None and worker.memory() > self.memory_limit:
            worker.kill()
            return Outcome(order, None, f"it took more than the memory limit of {self.memory_limit:,.0f} MiB")
        if self.time_limit is not None and worker.seconds() > self.time_limit:
            worker.kill()
            return Outcome(order, None, f"it took longer than the time limit of {self.time_limit:g} s")
        return None


class _Worker:
    """A worker as the driver sees it: its process, the connection to it, and the time its order has taken."""

    def __init__(self, conditions: Conditions) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = start_module("lgl_bench.runs.worker", theirs.fileno())
        self.connection = Connection(ours.detach())
        self.connection.send(conditions)
        self.order: Order | None = None
        self._ready = False
        self._since: float | None = None
        self._spent = 0.0

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return self.process.poll()

    def start(self, order: Order) -> None:
        self.order, self._spent = order, 0.0
        self._since = time.monotonic() if self._ready else None
        with contextlib.suppress(OSError):  # a worker that died is noticed when its messages are looked at
            self.connection.send(order)

    def seconds(self) -> float:
        """What its order has taken: not until it is ready, nor while it waits for the process of a plugin."""
        return self._spent + (0.0 if self._since is None else time.monotonic() - self._since)

    def message(self) -> tuple[str, Any] | None:
        """What the worker says."""
        try:
            message: tuple[str, Any] | None = self.connection.recv() if self.connection.poll() else None
        except (EOFError, OSError):
            with contextlib.suppress(Exception):
                self.process.wait(timeout=1)
            return None
        if message is not None and message[0] == "ready":
            self._ready, self._since = True, time.monotonic()
        if message is not None and message[0] == "away":
            # A plugin's process has the time limit to itself.
            self._spent, self._since = self.seconds(), None if message[1] else time.monotonic()
        return message

    def memory(self) -> float:
        """MiB held by the process."""
        import psutil

        try:
            return float(psutil.Process(self.process.pid).memory_info().rss) / 2**20
        except psutil.Error:
            return 0.0

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.connection.close()
