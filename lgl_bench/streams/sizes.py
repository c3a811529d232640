"""How large streams are, without opening them: from `stream.json`, from a manifest, or from the twin itself."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lgl_bench.core.errors import DataError
from lgl_bench.streams.catalogue import twin
from lgl_bench.streams.description import read_description
from lgl_bench.streams.manifest import Manifest

_MEBIBYTE = 2**20


class StreamSize(NamedTuple):
    """Counts of a stream; None if nobody has counted, and for the years of a graph that does not grow.

    Attributes:
        edges: Undirected pairs.
        megabytes: MiB on disk, of a stream that is there.
    """

    vertices: int | None = None
    edges: int | None = None
    classes: int | None = None
    years: int | None = None
    megabytes: float | None = None


def imported_size(folder: Path) -> StreamSize:
    """Of a stream in the data folder; nothing of one that is damaged, which `data verify` explains."""
    try:
        described = read_description(folder)
    except DataError:
        return StreamSize()
    years = len(described.times) if len(described.times) > 1 else None
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return StreamSize(described.vertices, described.edges, len(described.class_names), years, used / _MEBIBYTE)


def twin_size(name: str) -> StreamSize:
    """Of an embedded twin, which takes no room."""
    stream = twin(name)
    years = len(stream.times) if len(stream.times) > 1 else None
    return StreamSize(stream.num_vertices, stream.num_edges, int(stream.labels.max()) + 1, years)


def published_size(manifest: Manifest) -> StreamSize:
    """What the manifest of a stream says; edges that are counted as lines of the source are left out."""
    found = {one.figure: one for one in manifest.statistics}
    counts: dict[str, int] = {
        name: int(found[name].value) for name in ("vertices", "classes", "years") if name in found
    }
    edges = found.get("edges")
    if edges is not None and edges.counts in ("arcs", "pairs"):
        counts["edges"] = int(edges.value) // (2 if edges.counts == "arcs" else 1)
    return StreamSize(**counts)
