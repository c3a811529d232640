"""The same plan on a Ray cluster: one task a fit-year, the driver alone writes the store.

Nodes share no files: a stream travels once to each node through Ray's object store, plugins as source text, the
weights of the year before with the order. A node that dies costs what it was doing, which is done again elsewhere.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.runs.execute import Order
from lgl_bench.runs.isolation import Conditions, plugin_files
from lgl_bench.runs.pool import Outcome
from lgl_bench.runs.ray_cluster import RayCluster
from lgl_bench.runs.ray_task import Message, Parcel, remote_function, source_digest, versions
from lgl_bench.streams.stream import Stream

CRASHES = 2
"""Deaths of its process, its node alive, after which an order has failed; one may be a node on its way out."""
LOSSES = 10
"""Deaths of its node after which an order has failed: it may be what kills them."""
ROOM = 300.0
"""Seconds to wait for a node that is large enough, which an autoscaler may have to bring up first."""
_POLL = 0.5


@dataclass(slots=True)
class _Errand:
    """An order under way, and how often it was lost."""

    order: Order
    started: bool = False
    since: float | None = None
    spent: float = 0.0
    crashes: int = 0
    losses: int = 0

    @property
    def seconds(self) -> float:
        """What it has taken: not until its node is ready, nor while it waits for the process of a plugin."""
        return self.spent + (0.0 if self.since is None else time.monotonic() - self.since)

    def wait(self, waiting: bool) -> None:
        """Stops the clock, because a plugin's process has the time limit to itself, or has it go on."""
        self.spent, self.since = self.seconds, None if waiting else time.monotonic()

    @property
    def cpus(self) -> int:
        return self.order.unit.chain.threads

    @property
    def gpus(self) -> int:
        return int(self.order.unit.chain.device.startswith("cuda"))


class RayEngine:
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
        self.streams = streams
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.repeated = 0
        """Orders carried out again because their node died."""
        self._conditions = Conditions(plugin_files(), time_limit, memory_limit)
        self._versions = versions()
        self._sources = source_digest()
        self._cluster = RayCluster(address)
        self._ray = self._cluster.ray
        # Ray's own retries do not tell a node that died from a plugin that kills its process.
        self._function = self._ray.remote(num_returns="streaming", max_retries=0)(remote_function())
        self._shipped: dict[str, Any] = {}
        self._running: dict[Any, _Errand] = {}
        self._room_since = time.monotonic()

    @property
    def free(self) -> int:
        """CPUs of the live nodes without an order of ours, and one more.

        The one more waits in line: a CPU that becomes free has work at once, and an autoscaler sees that there is.
        """
        cpus = sum(int(node.cpus) for node in self._cluster.nodes())
        return max(0, cpus + 1 - sum(errand.cpus for errand in self._running.values()))

    @property
    def running(self) -> list[Order]:
        """Orders under way or in line."""
        return [errand.order for errand in self._running.values()]

    def submit(self, order: Order) -> None:
        """Hands an order to the cluster."""
        self._send(_Errand(order))

    def collect(self, on_epoch: Callable[[Order, int], None] | None = None) -> list[Outcome]:
        """Waits until at least one order has ended, and returns those that have."""
        while self._running:
            ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=_POLL)
            ended = [outcome for task in ready if (outcome := self._hear(task, on_epoch)) is not None]
            ended += [self._give_up(task) for task in self._overdue()]
            if ended:
                return ended
            self._check_room()
        return []

    def close(self) -> None:
        """Calls back what is under way and leaves the cluster."""
        for task in list(self._running):
            self._end(task)
        self._cluster.close()

    def _send(self, errand: _Errand) -> None:
        name = errand.order.unit.chain.stream
        packed = pickle.dumps(Parcel(errand.order, self._conditions, self.memory_limit, self._sources))
        function = self._function.options(num_cpus=errand.cpus, num_gpus=errand.gpus)
        errand.started, errand.since, errand.spent = False, None, 0.0
        try:
            if name not in self._shipped:
                self._shipped[name] = self._ray.put(self.streams[name])
            # In a list, a reference is handed over as it is: the node looks at its versions before it opens anything.
            task = function.remote(self._versions, packed, [self._shipped[name]])
        except (OSError, self._ray.exceptions.RayError) as error:
            raise self._cluster.gone(f"an order could not be handed over ({error})") from error
        self._running[task] = errand

    def _hear(self, task: Any, on_epoch: Callable[[Order, int], None] | None) -> Outcome | None:
        """Takes the next message of a task; gives an outcome where that was the last."""
        errors = self._ray.exceptions
        errand = self._running[task]
        try:
            message: Message = self._ray.get(next(task))
        except (errors.NodeDiedError, errors.ObjectLostError):
            return self._lost(task)
        except errors.LocalRayletDiedError as error:
            raise self._cluster.gone("Ray's own process on this machine died") from error
        except errors.OutOfMemoryError:
            return self._crashed(task, "the worker process was ended because its node ran out of memory")
        except errors.RayTaskError as error:
            return self._crashed(task, " ".join(str(error.cause).split()))
        except (errors.RayError, StopIteration):
            return self._crashed(task, f"the worker process died ({CRASHES} times, on a node that lives)")
        kind, content = message
        if kind == "unfit":
            raise UsageError(f"{content}; install the same on every node of the cluster, or results would differ")
        if kind == "started":
            errand.started, errand.since = True, time.monotonic()
            return None
        if kind == "away":
            errand.wait(content)
            return None
        if kind == "epoch":
            if on_epoch is not None:
                on_epoch(errand.order, content)
            return None
        self._end(task) if kind == "over" else self._running.pop(task)
        return Outcome(errand.order, None, content) if isinstance(content, str) else Outcome(errand.order, content)

    def _lost(self, task: Any) -> Outcome | None:
        """A node died with the order: that is nobody's fault, unless it happens again and again."""
        errand = self._running.pop(task)
        errand.losses += 1
        if errand.losses >= LOSSES:
            return Outcome(errand.order, None, f"the node it ran on died, {LOSSES} times in a row")
        self.repeated += 1
        self._send(errand)
        return None

    def _crashed(self, task: Any, reason: str) -> Outcome | None:
        errand = self._running.pop(task)
        errand.crashes += 1
        if errand.crashes >= CRASHES:
            return Outcome(errand.order, None, reason)
        self._send(errand)
        return None

    def _overdue(self) -> list[Any]:
        if self.time_limit is None:
            return []
        return [task for task, errand in self._running.items() if errand.seconds > self.time_limit]

    def _give_up(self, task: Any) -> Outcome:
        order = self._end(task).order
        return Outcome(order, None, f"it took longer than the time limit of {self.time_limit:g} s")

    def _end(self, task: Any) -> _Errand:
        """Ends a task with its process."""
        self._ray.cancel(task, force=True)
        return self._running.pop(task)

    def _check_room(self) -> None:
        """Waits no longer than `ROOM` where no live node is large enough for an order that has not begun."""
        nodes = self._cluster.nodes()
        waiting = [errand for errand in self._running.values() if not errand.started]
        fitting = [e for e in waiting if any(n.cpus >= e.cpus and n.gpus >= e.gpus for n in nodes)]
        if fitting or not waiting:
            self._room_since = time.monotonic()
        elif time.monotonic() - self._room_since > ROOM:
            need = f"{waiting[0].cpus} CPUs" + (" and a GPU" if waiting[0].gpus else "")
            raise DataError(
                f"no node of the Ray cluster {self._cluster.address} has had the {need} that a fit takes for "
                f"{ROOM:.0f} s; 'ray status' shows what the cluster has"
            )
