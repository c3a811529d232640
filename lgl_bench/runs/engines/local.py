"""Worker processes of this machine, which are replaced when a unit hangs or eats too much memory."""

from __future__ import annotations

import contextlib
import socket
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from lgl_bench.core.errors import UsageError
from lgl_bench.core.processes import start_module
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.devices import cores, held_memory, memory
from lgl_bench.runs.engines.base import Engine, OnEpoch, Outcome, Stopwatch, engines
from lgl_bench.runs.isolation.processes import Conditions, plugin_files
from lgl_bench.runs.options import Settings
from lgl_bench.runs.orders import Order

POLL = 0.5
"""Seconds between two looks at a worker."""
_MIN_MEMORY = 2048.0


@engines.register("local")
class Pool(Engine):
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
        share = memory_limit or max(_MIN_MEMORY, memory() / 2 / jobs)
        self._conditions = Conditions(plugin_files(), time_limit, share)
        self._idle: list[_Worker] = [_Worker(self._conditions) for _ in range(jobs)]
        self._busy: list[_Worker] = []

    @classmethod
    def start(cls, settings: Settings, tasks: TaskCache) -> Self:
        """As many workers as the run asks for, one per core otherwise."""
        jobs = cores() if settings.jobs is None else settings.jobs
        if jobs < 1:
            raise UsageError(f"--jobs {jobs}: at least one process is needed")
        return cls(jobs, settings.time_limit, settings.memory_limit)

    @property
    def free(self) -> int:
        """Workers without an order."""
        return len(self._idle)

    @property
    def running(self) -> list[Order]:
        """Orders under way."""
        return [worker.order for worker in self._busy if worker.order is not None]

    def submit(self, order: Order) -> None:
        """Sends an order to a free worker."""
        worker = self._idle.pop()
        if not worker.alive:
            worker.kill()
            worker = _Worker(self._conditions)
        worker.start(order)
        self._busy.append(worker)

    def collect(self, on_epoch: OnEpoch | None = None) -> list[Outcome]:
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

    def _look(self, worker: _Worker, on_epoch: OnEpoch | None) -> Outcome | None:
        order = worker.order
        assert order is not None
        message = worker.message()
        if message is not None:
            kind, content = message
            if kind == "epoch" and on_epoch is not None:
                on_epoch(order, content)
            if kind != "done":
                return None
            return Outcome.of(order, content)
        if not worker.alive:
            worker.kill()
            return Outcome(order, None, f"the worker process died (exit code {worker.exit_code})")
        if self.memory_limit is not None and held_memory(worker.process.pid) > self.memory_limit:
            worker.kill()
            return Outcome(order, None, f"it took more than the memory limit of {self.memory_limit:,.0f} MiB")
        if self.time_limit is not None and worker.clock.seconds > self.time_limit:
            worker.kill()
            return Outcome(order, None, f"it took longer than the time limit of {self.time_limit:g} s")
        return None


class _Worker:
    """A worker as the engine sees it: its process, the connection to it, and the time its order has taken."""

    def __init__(self, conditions: Conditions) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = start_module("lgl_bench.runs.engines.local_worker", theirs.fileno())
        self.connection = Connection(ours.detach())
        self.connection.send(conditions)
        self.order: Order | None = None
        self.clock = Stopwatch()
        self._ready = False

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return self.process.poll()

    def start(self, order: Order) -> None:
        self.order = order
        if self._ready:
            self.clock.restart()
        with contextlib.suppress(OSError):  # a worker that died is noticed when its messages are looked at
            self.connection.send(order)

    def message(self) -> tuple[str, Any] | None:
        """The next message of the worker; None if there is none."""
        try:
            message: tuple[str, Any] | None = self.connection.recv() if self.connection.poll() else None
        except (EOFError, OSError):
            with contextlib.suppress(Exception):
                self.process.wait(timeout=1)
            return None
        if message is not None and message[0] == "ready":
            self._ready = True
            self.clock.restart()
        if message is not None and message[0] == "away":
            self.clock.pause(message[1])
        return message

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.connection.close()
