"""What a Ray node does with an order: shows that it is fit for it, gets ready, carries it out.

A node sends, one after the other: `unfit` with the reason, or `started`, from when on the time limit counts; now and
then the `epoch`; `away` while a plugin's own process works; at last `done` with a `Done` or the reason why not, or
`over`, if its process must be ended.
"""

from __future__ import annotations

import hashlib
import pickle
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.devices import held_memory
from lgl_bench.runs.engines.base import attempt
from lgl_bench.runs.isolation.processes import Conditions, Isolation
from lgl_bench.runs.orders import Done, Order

Message: TypeAlias = tuple[str, Any]

_POLL = 0.5


@dataclass(frozen=True, slots=True)
class Parcel:
    """An order with what a node needs for it beside the stream.

    Attributes:
        conditions: Of plugins that are not built in.
        memory_limit: MiB the process may hold; None for no limit.
        sources: `source_digest()` of the process of the run.
    """

    order: Order
    conditions: Conditions
    memory_limit: float | None
    sources: str


@cache
def source_digest() -> str:
    """Of every Python file of lgl_bench: two checkouts of one version need not be equal."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parents[3]
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def remote_function() -> Callable[[dict[str, str], bytes, list[Any]], Iterator[Message]]:
    """The function that Ray runs.

    An inner function travels by value, and its arguments are opaque: on a node without lgl_bench, or with another
    one, it must still be able to say so.
    """

    def carry_out(expected: dict[str, str], parcel: bytes, stream: list[Any]) -> Iterator[Message]:
        import importlib
        import socket

        found = {}
        for name in expected:
            try:
                found[name] = str(importlib.import_module(name).__version__)
            except Exception as error:  # a library that is there but broken may raise anything
                found[name] = f"not importable ({type(error).__name__}: {error})"
        wrong = [
            f"{name} is {found[name]}, and {expected[name]} here" for name in expected if found[name] != expected[name]
        ]
        if wrong:
            yield "unfit", f"on the node {socket.gethostname()}, {'; '.join(wrong)}"
            return
        yield from importlib.import_module("lgl_bench.runs.engines.ray.task").unpack(parcel, stream[0])

    return carry_out


def unpack(packed: bytes, stream: Any) -> Iterator[Message]:
    """Gets ready, then carries the order out.

    Args:
        packed: A pickled `Parcel`.
        stream: Reference to the stream in Ray's object store.
    """
    import ray

    parcel: Parcel = pickle.loads(packed)
    host = ray.util.get_node_ip_address()
    if source_digest() != parcel.sources:
        yield "unfit", f"on the node {host}, the source files of lgl_bench differ from those here"
        return
    tasks = _tasks_of(parcel.order.unit.chain.stream, stream)
    yield "started", ""
    yield from watched(parcel.order, tasks, parcel.memory_limit, _isolated(parcel.conditions))


def watched(
    order: Order, tasks: TaskCache, memory_limit: float | None, isolation: Isolation | None = None
) -> Iterator[Message]:
    """Carries an order out in a thread, with an eye on its epochs and on the memory that this process holds."""
    answers: list[Done | str] = []
    latest = sent = 0
    waits: queue.SimpleQueue[bool] = queue.SimpleQueue()
    if isolation is not None:
        isolation.on_wait = waits.put

    def note(epoch: int, loss: float) -> None:
        nonlocal latest
        latest = epoch

    def work() -> None:
        answers.append(attempt(order, tasks, note, isolation))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL)
        while not waits.empty():
            yield "away", waits.get()
        if thread.is_alive() and memory_limit is not None and held_memory() > memory_limit:
            yield "over", f"it took more than the memory limit of {memory_limit:g} MiB"
            while True:  # a thread cannot be stopped: the engine has the process ended
                time.sleep(_POLL)
        if thread.is_alive() and latest != sent:
            sent = latest
            yield "epoch", sent
    yield "done", answers[0] if answers else "the plugin ended the thread it ran in"


# What follows outlives an order: Ray keeps a process for many, and on a node nobody else could own it.
_isolations: dict[str, tuple[Conditions, Isolation]] = {}


def _isolated(conditions: Conditions) -> Isolation:
    """Where plugins are scored; the last one is kept, because it takes seconds to start."""
    found = _isolations.get("last")
    if found is not None and found[0] == conditions:
        return found[1]
    if found is not None:
        found[1].close()
    _isolations["last"] = conditions, Isolation(conditions)
    return _isolations["last"][1]


@lru_cache(maxsize=4)
def _tasks_of(name: str, stream: Any) -> TaskCache:
    """The tasks of a stream, which is taken out of the object store once; its arrays stay shared by the node."""
    import ray

    return TaskCache({name: ray.get(stream)}, kept=2)
