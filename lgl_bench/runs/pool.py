"""Processes that do units of work, one thread a fit, and are replaced when a unit hangs or eats too much memory."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from lgl_bench.core.errors import LglBenchError
from lgl_bench.runs.execute import Done, Order, execute

_CONTEXT = get_context("spawn")
_POLL = 0.5
READY = "ready"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an order: done, or the reason why not."""

    order: Order
    done: Done | None
    reason: str = ""


class Pool:
    """A fixed number of worker processes.

    Args:
        jobs: How many.
        time_limit: Seconds a unit may take; None for no limit.
        memory_limit: MiB a worker may hold; None for no limit.
        plugins: Plugin files every worker loads.
    """

    def __init__(
        self,
        jobs: int,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        plugins: tuple[str, ...] = (),
    ) -> None:
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.plugins = plugins
        self._idle: list[_Worker] = [_Worker(plugins) for _ in range(jobs)]
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
        worker.start(order)
        self._busy.append(worker)

    def collect(self, on_epoch: Callable[[Order, int], None] | None = None) -> list[Outcome]:
        """Waits until at least one order has ended, and returns those that have."""
        while self._busy:
            wait([worker.connection for worker in self._busy], timeout=_POLL)
            ended = []
            for worker in self._busy:
                outcome = self._look(worker, on_epoch)
                if outcome is not None:
                    ended.append((worker, outcome))
            for worker, _ in ended:
                self._busy.remove(worker)
                self._idle.append(worker if worker.alive else _Worker(self.plugins))
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
        if message is READY:
            return None
        if isinstance(message, int):
            if on_epoch is not None:
                on_epoch(order, message)
            message = None
        if isinstance(message, Done):
            return Outcome(order, message)
        if isinstance(message, str):
            return Outcome(order, None, message)
        if not worker.alive:
            return Outcome(order, None, f"the worker process died (exit code {worker.exit_code})")
        if self.memory_limit is not None and worker.memory() > self.memory_limit:
            worker.kill()
            return Outcome(order, None, f"it took more than the memory limit of {self.memory_limit:g} MiB")
        if self.time_limit is not None and worker.ready and time.monotonic() - worker.since > self.time_limit:
            worker.kill()
            return Outcome(order, None, f"it took longer than the time limit of {self.time_limit:g} s")
        return None


class _Worker:
    def __init__(self, plugins: tuple[str, ...]) -> None:
        self.connection, other = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_serve, args=(other, plugins), daemon=True)
        self.process.start()
        other.close()
        self.order: Order | None = None
        self.since = 0.0
        self.ready = False

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    @property
    def exit_code(self) -> int | None:
        return self.process.exitcode

    def start(self, order: Order) -> None:
        self.order, self.since = order, time.monotonic()
        self.connection.send(order)

    def message(self) -> Any:
        """What the worker says; the clock of its first order starts when it is ready."""
        try:
            message = self.connection.recv() if self.connection.poll() else None
        except (EOFError, OSError):
            self.process.join(timeout=1)
            return None
        if message == READY:
            self.ready, self.since = True, time.monotonic()
            return READY
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
        self.process.join()
        self.connection.close()


def _serve(connection: Connection, plugins: tuple[str, ...]) -> None:
    """A worker: orders in, results out, until the other side is gone."""
    from pathlib import Path

    from lgl_bench.core.registry import load_plugin

    for plugin in plugins:
        load_plugin(Path(plugin))
    connection.send(READY)
    while True:
        try:
            order = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        connection.send(attempt(order, _teller(connection)))


def _teller(connection: Connection) -> Callable[[int, float], None]:
    """Sends the number of the epoch, not more often than anybody could read it."""
    last = time.monotonic()

    def tell(epoch: int, loss: float) -> None:
        nonlocal last
        if time.monotonic() - last > _POLL:
            last = time.monotonic()
            connection.send(epoch)

    return tell


def attempt(order: Order, on_epoch: Callable[[int, float], None] | None = None) -> Done | str:
    """Does an order; whatever a plugin raises becomes the reason of its failure."""
    try:
        return execute(order, on_epoch)
    except LglBenchError as error:
        return str(error)
    except MemoryError:
        return "it ran out of memory"
    except Exception as error:  # plugins may raise anything; only their own rows fail
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} (in {last.name})"
