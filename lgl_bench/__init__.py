"""lgl-bench: a benchmark harness for open-world lifelong graph learning."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lgl_bench.api import RunResult
    from lgl_bench.streams.stream import Stream

# DGL asks for its back end, and writes to the home folder, unless this is set before its first import.
os.environ.setdefault("DGLBACKEND", "pytorch")

__version__ = "0.1.0"


def run(suite: str, **options: Any) -> RunResult:
    """Runs a suite: `lgl_bench.run("temporal", detectors=["good(odin)"], seeds=3).frame` is its leaderboard.

    Options are those of `lgl_bench.api.run`.
    """
    from lgl_bench.api import run as carry_out

    return carry_out(suite, **options)


def stream_from(graph: Any, name: str = "mine", **options: Any) -> Stream:
    """A stream from two DataFrames, a NetworkX graph, a PyG `Data` or a DGL graph; `save=True` keeps it for runs.

    Options are those of `lgl_bench.streams.importers.objects.stream_from`.
    """
    from lgl_bench.streams.importers.objects import stream_from as convert

    return convert(graph, name, **options)
