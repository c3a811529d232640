"""What a Ray node does with an order: shows that it is fit for it, gets ready, carries it out.

A node tells the driver, one after the other: `unfit` with the reason, or `started`, from when on the time limit
counts; now and then the `epoch`; at last `done` with a `Done` or the reason why not, or `over`, where its process must
be ended.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.registry import load_plugin
from lgl_bench.runs.execute import Done, Order, provide
from lgl_bench.runs.pool import attempt

Message: TypeAlias = tuple[str, Any]

_POLL = 0.5


@dataclass(frozen=True, slots=True)
class Parcel:
    """An order with what a node needs for it beside the stream.

    Attributes:
        plugins: File name and source text of each.
        memory_limit: MiB the process may hold; None for no limit.
        sources: `source_digest()` of the driver.
    """

    order: Order
    plugins: tuple[tuple[str, str], ...]
    memory_limit: float | None
    sources: str


def versions() -> dict[str, str]:
    """What must be the same on every node; unit keys rest on it."""
    import dgl
    import torch

    import lgl_bench

    return {module.__name__: str(module.__version__) for module in (lgl_bench, torch, dgl)}


@cache
def source_digest() -> str:
    """Of every Python file of lgl_bench: two checkouts of one version need not be equal."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
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
        yield from importlib.import_module("lgl_bench.runs.ray_task").unpack(parcel, stream[0])

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
    try:
        for name, source in parcel.plugins:
            _load(name, source)
    except LglBenchError as error:
        yield "unfit", f"on the node {host}, {error}"
        return
    _lay_ready(parcel.order, stream)
    yield "started", ""
    yield from watched(parcel.order, parcel.memory_limit)


def watched(order: Order, memory_limit: float | None) -> Iterator[Message]:
    """Carries an order out in a thread, with an eye on its epochs and on the memory that this process holds."""
    answers: list[Done | str] = []
    latest = told = 0

    def note(epoch: int, loss: float) -> None:
        nonlocal latest
        latest = epoch

    def work() -> None:
        answers.append(attempt(order, note))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL)
        if thread.is_alive() and memory_limit is not None and _held() > memory_limit:
            yield "over", f"it took more than the memory limit of {memory_limit:g} MiB"
            while True:  # a thread cannot be stopped: the driver has the process ended
                time.sleep(_POLL)
        if thread.is_alive() and latest != told:
            told = latest
            yield "epoch", told
    yield "done", answers[0] if answers else "the plugin ended the thread it ran in"


def _held() -> float:
    import psutil

    return float(psutil.Process().memory_info().rss) / 2**20


_loaded: set[tuple[str, str]] = set()


def _load(name: str, source: str) -> None:
    """Loads a plugin once in a process. The file goes at once: a process that is killed would leave it behind."""
    if (name, source) in _loaded:
        return
    with tempfile.TemporaryDirectory(prefix="lgl-bench-plugin-") as folder:
        path = Path(folder) / name
        path.write_text(source, encoding="utf-8")
        load_plugin(path)
    _loaded.add((name, source))


_ready: dict[tuple[str, str | None], Any] = {}


def _lay_ready(order: Order, stream: Any) -> None:
    """Takes the stream out of the object store once in a process; its arrays stay in memory shared by the node."""
    import ray

    chain = order.unit.chain
    if _ready.get((chain.stream, chain.data_dir)) != stream:
        # Shared arrays are read-only, and torch warns of that; nothing here writes to a stream.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        provide(chain.stream, chain.data_dir, ray.get(stream))
        _ready[chain.stream, chain.data_dir] = stream
