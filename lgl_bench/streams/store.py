"""Streams on disk: `stream.json` and one Parquet partition a year.

`NAME/snapshots/time=YYYY/vertices.parquet` and `edges.parquet` hold what is new that year, so pandas, DuckDB
and Polars read them as they are. A stream is written beside its place and moved there whole: a killed import
leaves either no stream or a whole one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError, UsageError, printable
from lgl_bench.core.files import building
from lgl_bench.core.parquet import ColumnType, ParquetError, open_parquet, read_columns
from lgl_bench.core.types import IntArray, Sparse
from lgl_bench.streams.checks import check_edges, check_features, check_vertices
from lgl_bench.streams.checksum import prefix_checksums
from lgl_bench.streams.columns import (
    EDGE_COLUMNS,
    flat,
    ints,
    sparse_rows,
    stack,
    vertex_columns,
    vertex_table,
    words,
)
from lgl_bench.streams.description import StreamRecord, describe_stream, file_name, read_description
from lgl_bench.streams.lookup import positions
from lgl_bench.streams.stream import Stream


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
    """Opens a stream, checking every file it reads: its bytes, its columns, and that the arrays are a stream's.

    Args:
        folder: The stream's folder.
        features: Whether to read features; without them each vertex has zero columns.

    Raises:
        DataError: Something is missing, damaged, or not what `stream.json` says.
    """
    folder = Path(folder)
    described = read_description(folder)
    _check_files(folder, described)
    kind = described.feature_kind if features else "dense"
    columns = described.features if features else 0
    total = described.vertices
    ids, born, labels = (np.empty(total, dtype=np.int64) for _ in range(3))
    split = np.empty(total, dtype=np.int8) if described.has_split else None
    names = np.empty(total, dtype=object) if described.has_names else None
    dense = np.empty((total if kind == "dense" else 0, columns), dtype=np.float32)
    rows: list[Sparse] = []
    vertex_ends: list[int] = []
    wanted = vertex_columns(kind, columns, split is not None, described.has_names)
    for time in described.times:
        with _reading(folder, described, time, "vertices", wanted) as table:
            v0, v1 = _span(vertex_ends, table)
            ids[v0:v1], labels[v0:v1], born[v0:v1] = ints(table, "id"), ints(table, "label"), time
            if split is not None:
                split[v0:v1] = ints(table, "split")
            if names is not None:
                names[v0:v1] = words(table, "name")
            if kind == "sparse":
                rows.append(sparse_rows(table, columns))
            elif columns:
                dense[v0:v1] = flat(table, "features").reshape(-1, columns)
            own_split = None if split is None else split[v0:v1]
            check_vertices(ids[v0:v1], labels[v0:v1], own_split, len(described.class_names))
            check_features(rows[-1] if kind == "sparse" else dense[v0:v1])
    arcs, edge_ends = _read_arcs(folder, described, ids, vertex_ends)
    return Stream(
        info=described.info(),
        ids=ids,
        born=born,
        labels=labels,
        features=stack(rows, columns) if kind == "sparse" else dense,
        arcs=arcs,
        split=split,
        times=described.times,
        vertex_ends=tuple(vertex_ends),
        edge_ends=tuple(edge_ends),
        names=names,
    )


def _read_arcs(
    folder: Path, described: StreamRecord, ids: IntArray, vertex_ends: list[int]
) -> tuple[IntArray, list[int]]:
    """Both directions of every edge by vertex position, and the number of edges up to each year."""
    arcs = np.empty((2, 2 * described.edges), dtype=np.int64)
    place = positions(ids)
    if not np.array_equal(place(ids), np.arange(len(ids))):
        raise DataError(f"{folder} has a vertex id in two years; {_again(described)}")
    edge_ends: list[int] = []
    for time, first, stop in zip(described.times, [0, *vertex_ends[:-1]], vertex_ends, strict=True):
        with _reading(folder, described, time, "edges", EDGE_COLUMNS) as table:
            e0, e1 = _span(edge_ends, table)
            part = arcs[:, 2 * e0 : 2 * e1]
            part[0, 0::2] = part[1, 1::2] = place(ints(table, "source"))
            part[1, 0::2] = part[0, 1::2] = place(ints(table, "target"))
            check_edges(part[0, 0::2], part[1, 0::2], first, stop)
    return arcs, edge_ends


def verify_stream(folder: Path) -> list[str]:
    """What is wrong with a stream on disk: every file's bytes, then the arrays and their canonical checksum."""
    folder = Path(folder)
    try:
        described = read_description(folder)
    except DataError as error:
        return [str(error)]
    found = []
    for name, expected in described.files.items():
        path = folder / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif _digest(path) != expected:
            found.append(f"{name} was changed: its sha256 is not the one in stream.json")
    present = {str(path.relative_to(folder)) for path in folder.glob("snapshots/**/*") if path.is_file()}
    found += [f"{printable(name)} does not belong to the stream" for name in sorted(present - set(described.files))]
    if found:
        return found
    try:
        checksums = prefix_checksums(open_stream(folder))
    except DataError as error:
        return [str(error)]
    if checksums[described.times[-1]] != described.stream_checksum:
        found.append("the stream_checksum of the arrays is not the one in stream.json")
    return found


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
    path.write_text(describe_stream(stream, files), encoding="utf-8")
    _digest(path, sync=True)


def _check_files(folder: Path, described: StreamRecord) -> None:
    """Whether bytes and rows of the files are those `stream.json` notes, before arrays of that size are made."""
    for kind, expected in (("vertices", described.vertices), ("edges", described.edges)):
        rows = 0
        for time in described.times:
            name = file_name(time, kind)
            with _opened(folder, described, name, described.files[name]) as file:
                rows += int(file.metadata.num_rows)
        if rows != expected:
            raise DataError(
                f"{folder}: its files have {rows:,} {kind}, stream.json says {expected:,}; {_again(described)}"
            )


@contextlib.contextmanager
def _reading(
    folder: Path, described: StreamRecord, time: int, kind: str, wanted: dict[str, ColumnType]
) -> Iterator[pa.Table]:
    """The columns of one file; what the caller finds wrong with them is said of that file."""
    with _opened(folder, described, file_name(time, kind)) as file:
        yield read_columns(file, wanted)


@contextlib.contextmanager
def _opened(folder: Path, described: StreamRecord, name: str, digest: str = "") -> Iterator[pq.ParquetFile]:
    """A file of the stream, with the sha256 that is given."""
    path = folder / name
    try:
        if not path.is_file():
            raise ParquetError("cannot be read: it is missing, or no plain file")
        with pa.memory_map(str(path)) as mapped:
            if digest and hashlib.sha256(mapped.read_buffer()).hexdigest() != digest:
                raise ParquetError("was changed after it was written")
            mapped.seek(0)
            yield open_parquet(mapped, mapped.size())
    except ParquetError as error:
        raise DataError(f"{path} {error}; {_again(described)}") from error
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read: {error}; {_again(described)}") from error


def _again(described: StreamRecord) -> str:
    return f"'lgl-bench data verify {described.name}' lists all damage; import the stream again"


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
