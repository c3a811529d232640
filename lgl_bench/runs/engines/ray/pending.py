"""Orders on a Ray cluster: handing them over, and what is known of those under way."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lgl_bench.core.versions import versions
from lgl_bench.kernels.choice import kernel_packages
from lgl_bench.runs.engines.base import Stopwatch
from lgl_bench.runs.engines.ray.cluster import Node, RayCluster
from lgl_bench.runs.engines.ray.task import Parcel, remote_function, source_digest
from lgl_bench.runs.isolation.processes import Conditions
from lgl_bench.runs.orders import Order
from lgl_bench.streams.stream import Stream


@dataclass(slots=True)
class PendingOrder:
    """An order under way, and how often it was lost.

    Attributes:
        started: Whether its node has begun with it.
        crashes: Deaths of its process on a node that lives.
        losses: Deaths of its node.
    """

    order: Order
    started: bool = False
    clock: Stopwatch = field(default_factory=Stopwatch)
    crashes: int = 0
    losses: int = 0

    @property
    def cpus(self) -> int:
        """That it takes."""
        return self.order.unit.chain.threads

    @property
    def gpus(self) -> int:
        """That it takes."""
        return int(self.order.unit.chain.device.startswith("cuda"))

    @property
    def needs(self) -> str:
        """What it takes, for messages."""
        return f"{self.cpus} CPUs" + (" and a GPU" if self.gpus else "")

    def fits(self, node: Node) -> bool:
        """Whether a node is large enough for it."""
        return node.cpus >= self.cpus and node.gpus >= self.gpus


class Dispatcher:
    """Sends orders to a cluster, each with what a node needs for it; a stream travels once.

    Args:
        cluster: Which.
        streams: By name.
        conditions: Of plugins that are not built in.
        memory_limit: MiB a worker may hold; None for no limit.
    """

    def __init__(
        self, cluster: RayCluster, streams: Mapping[str, Stream], conditions: Conditions, memory_limit: float | None
    ) -> None:
        self.versions = versions("lgl_bench", "torch", *kernel_packages())  # unit keys rest on them
        self.sources = source_digest()
        self._cluster, self._streams = cluster, streams
        self._conditions, self._memory_limit = conditions, memory_limit
        # Ray's own retries do not distinguish a node that died from a plugin that kills its process.
        self._function = cluster.ray.remote(num_returns="streaming", max_retries=0)(remote_function())
        self._shipped: dict[str, Any] = {}

    def send(self, pending: PendingOrder) -> Any:
        """Ray's task for an order, from its beginning."""
        ray, name = self._cluster.ray, pending.order.unit.chain.stream
        packed = pickle.dumps(Parcel(pending.order, self._conditions, self._memory_limit, self.sources))
        function = self._function.options(num_cpus=pending.cpus, num_gpus=pending.gpus)
        pending.started = False
        pending.clock.reset()
        try:
            if name not in self._shipped:
                self._shipped[name] = ray.put(self._streams[name])
            # In a list, a reference is handed over as it is: the node looks at its versions before it opens anything.
            return function.remote(self.versions, packed, [self._shipped[name]])
        except (OSError, ray.exceptions.RayError) as error:
            raise self._cluster.gone(f"an order could not be handed over ({error})") from error
