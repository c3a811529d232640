"""Streams by name, and their tasks without the truth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Task
from lgl_bench.protocols import protocols
from lgl_bench.protocols.sealing import sealed
from lgl_bench.streams import catalogue
from lgl_bench.streams.stream import Stream


def load(name: str, data_dir: str | Path | None = None) -> Stream:
    """The stream of that name: one that was fetched or imported, or an embedded twin, which needs no download.

    `stream.upto(2007)` is the graph up to a year, with labels; `stream.times` are its years. A stream, and what `upto`
    returns, has `to_dgl()`, `to_pyg()` and `to_networkx()`.

    Args:
        name: As `lgl-bench data list` shows it: "cora", "ogb-arxiv-twin", "dblp-easy-twin(homophily=0.3)".
        data_dir: Folder of the streams; `LGL_BENCH_DATA`, or the platform's cache folder, otherwise.

    Raises:
        DataError: It is known, but its data is not here; the message says how to get it.
        UnknownNameError: There is no such stream; the message names the nearest.
    """
    return catalogue.load(name, None if data_dir is None else Path(data_dir))


def tasks(stream: Stream | str, protocol: str = "temporal", seed: int = 0, **parameters: Any) -> Iterator[Task]:
    """The tasks of a stream, one after the other, without the truth.

    Learn from `task.train` (graph and labels up to a year) where `task.fit_mask` holds, then answer for the vertices
    `task.scored` of `task.test`, the graph of the next year, which has no labels. `task.known` are the classes known by
    then. A task with a `skip_reason` cannot be answered by a classifier.

    Args:
        stream: A stream, or its name.
        protocol: "temporal" for streams with years, "leave-class-out" for static graphs, or a plugin's.
        seed: Draws the split of a static graph.
        parameters: Of the protocol: `history`, `label_delay`; `split`, `nested`.
    """
    opened = load(stream) if isinstance(stream, str) else stream
    made = protocols.get(protocol)
    try:
        built = made(**parameters)
    except TypeError as error:
        raise UsageError(f"the protocol {protocol} does not take {', '.join(parameters)}: {error}") from error
    return (sealed(task) for task, _ in built.tasks(opened, seed))
