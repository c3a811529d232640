"""The same plan on a Ray cluster: one task per fit, and the process of the run alone writes the store.

Nodes share no files: a stream travels once to each node through Ray's object store, plugins as source text, the
weights of the year before with the order. A node that dies costs what it was doing, which is done again elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Self

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.engines.base import Engine, OnEpoch, Outcome, engines
from lgl_bench.runs.engines.ray.cluster import RayCluster
from lgl_bench.runs.engines.ray.pending import Dispatcher, PendingOrder
from lgl_bench.runs.engines.ray.task import Message
from lgl_bench.runs.isolation.processes import Conditions, plugin_files
from lgl_bench.runs.options import Settings
from lgl_bench.runs.orders import Order
from lgl_bench.streams.stream import Stream

MAX_CRASHES = 2
"""Deaths of its process, its node alive, after which an order has failed; one may be a node on its way out."""
MAX_LOSSES = 10
"""Deaths of its node after which an order has failed: it may be what kills them."""
NODE_TIMEOUT = 300.0
"""Seconds to wait for a node that is large enough, which an autoscaler may have to bring up first."""
_POLL = 0.5


@engines.register("ray")
class RayEngine(Engine):
    """Carries orders out on a Ray cluster.

    Args:
        streams: The streams of the plan, by name; nodes need no data folder.
        address: See `RayCluster`.
        time_limit: Seconds a unit may take, from when its node is ready; None for no limit.
        memory_limit: MiB a worker may hold, and the process of a plugin; None for no limit of workers.
    """

    def __init__(
        self,
        streams: Mapping[str, Stream],
        address: str | None = None,
        time_limit: float | None = None,
        memory_limit: float | None = None,
    ) -> None:
        self._limit = float("inf") if time_limit is None else time_limit
        self.repeated = 0
        """Orders carried out again because their node died."""
        self.cluster = RayCluster(address)
        self.dispatcher = Dispatcher(
            self.cluster, streams, Conditions(plugin_files(), time_limit, memory_limit), memory_limit
        )
        self._ray = self.cluster.ray
        self._running: dict[Any, PendingOrder] = {}
        self._room_since = time.monotonic()

    @classmethod
    def start(cls, settings: Settings, tasks: TaskCache) -> Self:
        """Joins the cluster that the run names, or starts one here."""
        return cls(dict(tasks.streams), settings.address, settings.time_limit, settings.memory_limit)

    @property
    def free(self) -> int:
        """CPUs of the live nodes without an order of ours, and one more.

        The one more waits in line: a CPU that becomes free has work at once, and an autoscaler sees that there is.
        """
        cpus = sum(int(node.cpus) for node in self.cluster.nodes())
        return max(0, cpus + 1 - sum(pending.cpus for pending in self._running.values()))

    @property
    def running(self) -> list[Order]:
        """Orders under way or in line."""
        return [pending.order for pending in self._running.values()]

    def submit(self, order: Order) -> None:
        """Sends an order to the cluster."""
        pending = PendingOrder(order)
        self._running[self.dispatcher.send(pending)] = pending

    def collect(self, on_epoch: OnEpoch | None = None) -> list[Outcome]:
        """Waits until at least one order has ended, and returns those that have."""
        while self._running:
            ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=_POLL)
            ended = [outcome for task in ready if (outcome := self._receive(task, on_epoch)) is not None]
            overdue = [task for task, pending in self._running.items() if pending.clock.seconds > self._limit]
            reason = f"it took longer than the time limit of {self._limit:g} s"
            ended += [Outcome(self._end(task).order, None, reason) for task in overdue]
            if ended:
                return ended
            self._check_room()
        return []

    def close(self) -> None:
        """Calls back what is under way and leaves the cluster."""
        for task in list(self._running):
            self._end(task)
        self.cluster.close()

    def _receive(self, task: Any, on_epoch: OnEpoch | None) -> Outcome | None:
        """Takes the next message of a task; returns an outcome if that was the last."""
        errors = self._ray.exceptions
        try:
            message: Message = self._ray.get(next(task))
        except (errors.NodeDiedError, errors.ObjectLostError):
            return self._retry(task, f"the node it ran on died, {MAX_LOSSES} times in a row", lost=True)
        except errors.LocalRayletDiedError as error:
            raise self.cluster.gone("Ray's own process on this machine died") from error
        except errors.OutOfMemoryError:
            return self._retry(task, "the worker process was ended because its node ran out of memory")
        except errors.RayTaskError as error:
            return self._retry(task, " ".join(str(error.cause).split()))
        except (errors.RayError, StopIteration):
            return self._retry(task, f"the worker process died ({MAX_CRASHES} times, on a node that lives)")
        return self._handle_message(task, message, on_epoch)

    def _handle_message(self, task: Any, message: Message, on_epoch: OnEpoch | None) -> Outcome | None:
        """Does what a message asks for; returns an outcome if it was the last."""
        pending = self._running[task]
        kind, content = message
        if kind == "unfit":
            raise UsageError(f"{content}; install the same on every node of the cluster, or results would differ")
        if kind == "started":
            pending.started = True
            pending.clock.restart()
        elif kind == "away":
            pending.clock.pause(content)
        elif kind == "epoch":
            if on_epoch is not None:
                on_epoch(pending.order, content)
        else:
            self._end(task) if kind == "over" else self._running.pop(task)
            return Outcome.of(pending.order, content)
        return None

    def _retry(self, task: Any, reason: str, *, lost: bool = False) -> Outcome | None:
        """Carries an order out again: a node that died is nobody's fault, unless it happens again and again."""
        pending = self._running.pop(task)
        pending.losses += lost
        pending.crashes += not lost
        if pending.losses >= MAX_LOSSES or pending.crashes >= MAX_CRASHES:
            return Outcome(pending.order, None, reason)
        self.repeated += lost
        self._running[self.dispatcher.send(pending)] = pending
        return None

    def _end(self, task: Any) -> PendingOrder:
        """Ends a task with its process."""
        self._ray.cancel(task, force=True)
        return self._running.pop(task)

    def _check_room(self) -> None:
        """Waits no longer than `NODE_TIMEOUT` if no live node is large enough for an order that has not begun."""
        nodes = self.cluster.nodes()
        waiting = [pending for pending in self._running.values() if not pending.started]
        if not waiting or any(pending.fits(node) for pending in waiting for node in nodes):
            self._room_since = time.monotonic()
        elif time.monotonic() - self._room_since > NODE_TIMEOUT:
            raise DataError(
                f"no node of the Ray cluster {self.cluster.address} has had the {waiting[0].needs} that a fit takes "
                f"for {NODE_TIMEOUT:.0f} s; 'ray status' shows what the cluster has"
            )
