"""The connection of a run to a Ray cluster: joining or starting it, which nodes live, and noticing that it is gone.

Ray itself waits very long for a cluster that does not answer, and then ends the process. So the TCP port of the head
node is tried first.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lgl_bench.core.errors import DataError, UsageError

log = logging.getLogger(__name__)

CONNECT_TIMEOUT = 5.0
"""Seconds a head node may take to accept a connection."""
JOIN_TIMEOUT = 120.0
"""Seconds that joining a cluster may take: what accepts connections need not be Ray."""
LOST_AFTER = 40.0
"""Seconds a head node may be out of reach, a restart included, before the run is given up."""
NODES_EVERY = 2.0
"""Seconds between two looks at the nodes."""


@dataclass(frozen=True, slots=True)
class Node:
    """A live machine of the cluster, with its resources in all, free or taken."""

    key: str
    cpus: float
    gpus: float


class RayCluster:
    """A connection to a cluster; if this process is connected already, that connection is used and left open.

    Args:
        address: HOST:PORT of the head node, or "auto" for a cluster this machine is part of. Without it
            `RAY_ADDRESS` says which; if that is not set either, a Ray of this machine alone is started.
    """

    def __init__(self, address: str | None = None) -> None:
        self.ray = import_ray()
        self.address = address or os.environ.get("RAY_ADDRESS") or "local"
        self._mine = not self.ray.is_initialized()
        self._print: Any = None
        if self._mine:
            self._connect()
        context = self.ray.get_runtime_context()
        self._door = _host_and_port(context.gcs_address)
        self._own = context.get_node_id()
        if not self._mine and address not in (None, "auto", "local", context.gcs_address):
            raise UsageError(
                f"this process is connected to the Ray cluster {context.gcs_address} already, and cannot join "
                f"{address} too; call ray.shutdown() first"
            )
        self._nodes: list[Node] = []
        self._seen = time.monotonic()
        self._looked = -float("inf")

    def nodes(self) -> list[Node]:
        """Live nodes, as seen a moment ago.

        Raises:
            DataError: The cluster has been out of reach for long, or this machine is no part of it any more.
        """
        now = time.monotonic()
        if now - self._looked < NODES_EVERY:
            return self._nodes
        if _answers(*self._door):
            alive = [node for node in self.ray.nodes() if node["Alive"]]
            self._nodes = [_node(node) for node in alive]
            self._seen = time.monotonic()
            if self._own not in {node.key for node in self._nodes}:
                raise self.gone("Ray's own process on this machine died")
        elif now - self._seen > LOST_AFTER:
            raise self.gone(f"it has not answered for {now - self._seen:.0f} s")
        self._looked = time.monotonic()
        return self._nodes

    def gone(self, reason: str) -> DataError:
        """The error of a run that has lost its cluster."""
        return DataError(
            f"the Ray cluster {self.address} is lost: {reason}. What was finished is kept; the same command goes on "
            "from there once there is a cluster again"
        )

    def close(self) -> None:
        """Leaves the cluster, and ends it if it was started here."""
        if self._mine:
            self.ray.shutdown()
            self._quiet(False)

    def _connect(self) -> None:
        if "://" in self.address:
            raise UsageError(
                f"--address {self.address} is the address of a Ray client or job server; start the run on a machine "
                "of the cluster with --address auto (through 'ray job submit', for one)"
            )
        options = {"address": self.address, "log_to_driver": False, "logging_level": logging.ERROR}
        if self.address == "local":
            options["include_dashboard"] = False
        elif self.address != "auto" and not _answers(*_host_and_port(self.address)):
            raise UsageError(
                f"no Ray cluster answers at {self.address}; 'ray start --head' starts one and prints its address"
            )
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        self._quiet(True)
        try:
            silent = f"{self.address} accepts connections, but no Ray cluster spoke in {JOIN_TIMEOUT:g} s"
            with _no_longer_than(JOIN_TIMEOUT, silent):
                self.ray.init(**options)
        except UsageError:
            self._quiet(False)
            raise
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            self._quiet(False)
            raise UsageError(f"the Ray cluster {self.address} could not be joined: {_reason(error)}") from error

    def _quiet(self, quiet: bool) -> None:
        """Sends Ray's notices to the log.

        Whatever `log_to_driver` says, Ray prints what befalls workers and nodes to standard output: in the middle of
        a table, or of JSON. There is no public switch, so the printing function is replaced if there is one.
        """
        worker: Any = importlib.import_module("ray._private.worker")
        if quiet and hasattr(worker, "print_to_stdstream"):
            self._print = worker.print_to_stdstream
            worker.print_to_stdstream = _to_log
        elif not quiet and self._print is not None:
            worker.print_to_stdstream = self._print
            self._print = None


def import_ray() -> Any:
    """The library, or an error that says how to get it."""
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(
            f"--engine ray needs Ray, which cannot be imported ({error}); pip install 'lgl-bench[ray]'"
        ) from error


def _host_and_port(address: str) -> tuple[str, int]:
    """The two parts of an address.

    >>> _host_and_port("head:6379"), _host_and_port("[::1]:6379")
    (('head', 6379), ('::1', 6379))
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--address {address}: an address is HOST:PORT, as 'ray start --head' prints it, or auto")
    return host.strip("[]"), int(port)


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=CONNECT_TIMEOUT).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _no_longer_than(seconds: float, otherwise: str) -> Iterator[None]:
    """Interrupts what takes longer, as Ctrl-C would. Only in the main thread, which alone can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    late = threading.Event()

    def interrupt() -> None:
        late.set()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    # A command started in the background ignores SIGINT, and could not be interrupted.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        if late.is_set():
            raise UsageError(otherwise) from None
        raise
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def _reason(error: BaseException | None) -> str:
    """What is behind an error of Ray: it hides a refused token in the text of a cause."""
    text = " ".join(str(error).split())
    while error is not None:
        if "AuthenticationError" in f"{type(error).__name__} {error}":
            return (
                "it asks for a token; set RAY_AUTH_MODE=token here as on its nodes, and let RAY_AUTH_TOKEN_PATH name "
                "the file with the token that the cluster was started with"
            )
        error = error.__cause__ or error.__context__
    return text


def _node(facts: dict[str, Any]) -> Node:
    resources = facts["Resources"]
    return Node(facts["NodeID"], float(resources.get("CPU", 0)), float(resources.get("GPU", 0)))


def _to_log(data: dict[str, Any], *_: Any, **__: Any) -> None:
    for line in data.get("lines", ()):
        log.debug("%s", line)
