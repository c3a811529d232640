"""Streams on disk: `stream.json` and one Parquet partition a year.

`NAME/snapshots/time=YYYY/vertices.parquet` and `edges.parquet` hold what is new that year, so pandas, DuckDB
and Polars read them as they are. A stream is written beside its place and moved there whole: a killed import
leaves either no stream or a whole one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.files import building
from lgl_bench.core.types import Sparse
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.columns import flat, ints, sparse_rows, stack, vertex_columns, vertex_table
from lgl_bench.streams.lookup import positions
from lgl_bench.streams.stream import Stream, StreamInfo

FORMAT_VERSION = 1


def write_stream(stream: Stream, folder: Path, *, force: bool = False) -> Path:
    """Writes the stream to `folder`, whole or not at all.

    Raises:
        UsageError: The folder exists and `force` is not given.
        DataError: It cannot be written (no permission, full disk); nothing is left behind.
    """
    folder = Path(folder)
    if folder.exists() and not force:
        raise UsageError(f"{folder} exists already; give --force to replace it")
    try:
        with building(folder) as partial:
            _write_files(stream, partial)
    except OSError as error:
        remedy = "free some space" if error.errno == errno.ENOSPC else "choose another --data-dir"
        raise DataError(
            f"the stream {stream.name} could not be written to {folder}: {error.strerror or error}; {remedy}"
        ) from error
    return folder


def open_stream(folder: Path, *, features: bool = True) -> Stream:
    """Opens a stream, checking the bytes of every file it reads against `stream.json`.

    Args:
        folder: The stream's folder.
        features: Whether to read features; without them each vertex has zero columns.
    """
    folder = Path(folder)
    described = read_description(folder)
    kind, columns = described["feature_kind"], described["features"] if features else 0
    if not features:
        kind = "dense"
    total_v, total_e = described["vertices"], described["edges"]
    ids, born, labels = (np.empty(total_v, dtype=np.int64) for _ in range(3))
    split = np.empty(total_v, dtype=np.int8) if described["has_split"] else None
    dense = np.empty((total_v if kind == "dense" else 0, columns), dtype=np.float32)
    rows: list[Sparse] = []
    vertex_ends: list[int] = []
    for time in described["times"]:
        table = _read(folder, described, time, "vertices", vertex_columns(kind, columns, split is not None))
        v0, v1 = _span(vertex_ends, table)
        ids[v0:v1], labels[v0:v1], born[v0:v1] = ints(table, "id"), ints(table, "label"), time
        if split is not None:
            split[v0:v1] = table.column("split").to_numpy()
        if kind == "sparse":
            rows.append(sparse_rows(table, columns))
        elif columns:
            dense[v0:v1] = flat(table, "features").reshape(-1, columns)
    arcs = np.empty((2, 2 * total_e), dtype=np.int64)
    place = positions(ids)
    edge_ends: list[int] = []
    for time in described["times"]:
        table = _read(folder, described, time, "edges", ["source", "target"])
        e0, e1 = _span(edge_ends, table)
        part = arcs[:, 2 * e0 : 2 * e1]
        part[0, 0::2] = part[1, 1::2] = place(ints(table, "source"))
        part[1, 0::2] = part[0, 1::2] = place(ints(table, "target"))
    return Stream(
        info=_info(described),
        ids=ids,
        born=born,
        labels=labels,
        features=stack(rows, columns) if kind == "sparse" else dense,
        arcs=arcs,
        split=split,
        times=tuple(described["times"]),
        vertex_ends=tuple(vertex_ends),
        edge_ends=tuple(edge_ends),
    )


def verify_stream(folder: Path) -> list[str]:
    """What is wrong with a stream on disk: every file's bytes, then the canonical checksum."""
    folder = Path(folder)
    try:
        described = read_description(folder)
    except DataError as error:
        return [str(error)]
    found = []
    for name, expected in described["files"].items():
        path = folder / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif _digest(path) != expected:
            found.append(f"{name} was changed: its sha256 is not the one noted in stream.json")
    present = {str(path.relative_to(folder)) for path in folder.glob("snapshots/**/*") if path.is_file()}
    found += [f"{name} does not belong to the stream" for name in sorted(present - set(described["files"]))]
    if not found:
        checksums = prefix_checksums(open_stream(folder))
        if checksums[described["times"][-1]] != described["stream_checksum"]:
            found.append("the arrays do not give the stream_checksum noted in stream.json")
    return found


def read_description(folder: Path) -> dict[str, Any]:
    """The contents of `stream.json`, checked against the sha256 it holds of itself."""
    path = Path(folder) / "stream.json"
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{folder} holds no stream: stream.json is missing") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}; import the stream again") from error
    version = described.get("format_version") if isinstance(described, dict) else None
    if version != FORMAT_VERSION:
        raise DataError(f"{path} has format version {version}, this lgl-bench reads {FORMAT_VERSION}; import it again")
    if described.get("sha256") != _seal(described):
        raise DataError(f"{path} was changed after it was written; import the stream again")
    return dict(described)


def _write_files(stream: Stream, folder: Path) -> None:
    files: dict[str, str] = {}
    v0 = e0 = 0
    for time, v1, e1 in zip(stream.times, stream.vertex_ends, stream.edge_ends, strict=True):
        part = folder / "snapshots" / f"time={time}"
        part.mkdir(parents=True)
        ends = stream.ids[stream.arcs[:, 2 * e0 : 2 * e1 : 2]]
        edges = pa.table({"source": ends[0], "target": ends[1]})
        for kind, table in (("vertices", vertex_table(stream, v0, v1)), ("edges", edges)):
            path = part / f"{kind}.parquet"
            # Dense floats hardly compress, and uncompressed pages are read at the speed of a copy.
            plain = kind == "vertices" and not isinstance(stream.features, Sparse)
            pq.write_table(table, path, compression="none" if plain else "zstd", use_dictionary=False)
            files[str(path.relative_to(folder))] = _digest(path, sync=True)
        del table, edges, ends
        pa.default_memory_pool().release_unused()
        v0, e0 = v1, e1
    path = folder / "stream.json"
    described = _describe(stream, files)
    described["sha256"] = _seal(described)
    path.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    _digest(path, sync=True)


def _describe(stream: Stream, files: dict[str, str]) -> dict[str, Any]:
    checksums = prefix_checksums(stream)
    info = stream.info
    return {
        "format_version": FORMAT_VERSION,
        "name": info.name,
        "source": info.source,
        "licence": info.licence,
        "citation": info.citation,
        "t0": info.t0,
        "vertices": stream.num_vertices,
        "edges": stream.num_edges,
        "features": stream.features.shape[1],
        "feature_kind": "sparse" if isinstance(stream.features, Sparse) else "dense",
        "classes": len(stream.class_births()),
        "class_names": list(info.class_names),
        "has_split": stream.split is not None,
        "times": list(stream.times),
        "imported": info.imported,
        "stream_checksum": checksums[stream.times[-1]],
        "files": files,
    }


def _seal(described: dict[str, Any]) -> str:
    """sha256 of everything in `stream.json` but itself, however it is laid out."""
    rest = {key: value for key, value in described.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _info(described: dict[str, Any]) -> StreamInfo:
    texts = {key: described[key] for key in ("name", "source", "licence", "citation", "t0", "imported")}
    return replace(StreamInfo(name=""), **texts, class_names=tuple(described["class_names"]))


def _read(folder: Path, described: dict[str, Any], time: int, kind: str, columns: list[str]) -> pa.Table:
    name = f"snapshots/time={time}/{kind}.parquet"
    path = folder / name
    again = f"'lgl-bench data verify {described['name']}' lists all damage; import the stream again"
    try:
        with pa.memory_map(str(path)) as mapped:
            if hashlib.sha256(mapped.read_buffer()).hexdigest() != described["files"].get(name):
                raise DataError(f"{path} was changed after it was written; {again}")
            mapped.seek(0)
            return pq.ParquetFile(mapped).read(columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read: {error}; {again}") from error


def _span(ends: list[int], table: pa.Table) -> tuple[int, int]:
    """Where the rows of the next year go; notes their end."""
    start = ends[-1] if ends else 0
    ends.append(start + table.num_rows)
    # Arrow keeps freed memory for itself, which over the years adds up to a second copy of the stream.
    pa.default_memory_pool().release_unused()
    return start, ends[-1]


def _digest(path: Path, *, sync: bool = False) -> str:
    with path.open("rb") as file:
        if sync:
            os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()
