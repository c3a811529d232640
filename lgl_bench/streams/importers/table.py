"""Everybody else's graph: a table of vertices and a table of edges, Parquet or CSV, with named columns.

`vertices.{parquet,csv}` has an id (a number or a name, such as a DOI), a time (a year or a date), a label (a number or
a name), if there is one a published split (train, validation, test), and features: one list column, index and value
list columns, or one column a feature. `edges.{parquet,csv}` has source and target.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import Features, IntArray
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.files import MAX_FEATURES, find_file, maybe_sparse, to_sparse
from lgl_bench.streams.importers.table_columns import (
    STRUCTURE,
    Chosen,
    TableOptions,
    choose_edges,
    choose_vertices,
    ignored_note,
    read_table_file,
)
from lgl_bench.streams.importers.table_values import ids_of, labels_of, split_of, times_of, values_of
from lgl_bench.streams.raw import RawGraph

VERTEX_FILES = tuple(f"{name}.{kind}" for name in ("vertices", "nodes", "papers") for kind in ("parquet", "csv"))
EDGE_FILES = tuple(f"{name}.{kind}" for name in ("edges", "citations") for kind in ("parquet", "csv"))


@importers.register("table")
def read_table(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the two tables of a folder."""
    names = TableOptions.read(options, "table")
    vertex_file, edge_file = find_file(source, *VERTEX_FILES), find_file(source, *EDGE_FILES)
    vertices = read_table_file(vertex_file, choose_vertices(names))
    edges = read_table_file(edge_file, choose_edges(names))
    # Line 1 of a CSV is its header.
    lines = np.arange(2, edges[0].num_rows + 2) if edge_file.suffix == ".csv" else None
    return tables_to_graph(vertices, edges, names, (vertex_file.name, edge_file.name), lines)


def tables_to_graph(
    vertices: tuple[pa.Table, Chosen],
    edges: tuple[pa.Table, Chosen],
    options: TableOptions,
    files: tuple[str, str],
    edge_lines: IntArray | None = None,
) -> RawGraph:
    """A graph from two tables of which the columns are chosen.

    Args:
        vertices: The table of vertices.
        edges: The table of edges.
        options: How they are read.
        files: What the two are called, for messages.
        edge_lines: Line of each edge in its file.
    """
    table, chosen = vertices
    vertex_file, edge_file = files
    labels, class_names = labels_of(table, chosen.names.get("label"))
    time = chosen.names.get("time")
    read = f"read {chosen.note}; {edges[1].note}" + (", times as months" if options.unit == "month" and time else "")
    ids = ids_of(table, chosen.names["id"], vertex_file)
    return RawGraph(
        ids=ids,
        born=times_of(table, time, vertex_file, options.unit),
        labels=labels,
        features=_features(table, chosen.features, options, vertex_file),
        edges=_ends(*edges, edge_file, named=ids.dtype.kind == "O"),
        split=split_of(table, chosen.names.get("split"), vertex_file),
        class_names=class_names,
        vertex_file=vertex_file,
        edge_file=edge_file,
        edge_lines=edge_lines,
        structure=options.dimensions if options.features == STRUCTURE else 0,
        drop_unknown=options.unknown == "drop",
        unit=options.unit if time else "year",
        notes=(read, *ignored_note(vertex_file, chosen.ignored), *ignored_note(edge_file, edges[1].ignored)),
    )


def _ends(table: pa.Table, chosen: Chosen, file: str, *, named: bool) -> npt.NDArray[Any]:
    """(2, m) ids: as they are spelled if vertices have names; of two types if need be, to be looked at one by one."""
    read = values_of if named else ids_of
    ends = [read(table, chosen.names[part], file) for part in ("source", "target")]
    if named:
        return np.stack([end if end.dtype.kind == "O" else end.astype(str).astype(object) for end in ends])
    same = ends[0].dtype == ends[1].dtype or {end.dtype.kind for end in ends} <= set("iuf")
    return np.stack(ends if same else [end.astype(object) for end in ends])


def _features(table: pa.Table, chosen: tuple[str, ...], options: TableOptions, file: str) -> Features:
    if chosen == (options.feature_index, options.feature_value):
        return _sparse_lists(table, options, file)
    if not chosen or not table.num_rows:
        return np.zeros((table.num_rows, 0), dtype=np.float32)
    if pa.types.is_nested(table.column(chosen[0]).type):
        lengths, values = _lists(table, chosen[0], file)
        if len(np.unique(lengths)) > 1:
            several = ", ".join(map(str, np.unique(lengths)[:5]))
            raise DataError(f"{file}: the lists in '{chosen[0]}' differ in length: {several}")
        return maybe_sparse(values.reshape(len(lengths), int(lengths[0]) if len(lengths) else 0), file)
    return maybe_sparse(np.column_stack([values_of(table, name, file) for name in chosen]), file)


def _lists(table: pa.Table, name: str, file: str) -> tuple[IntArray, npt.NDArray[Any]]:
    """Lengths of the lists of a column, and their numbers one after the other."""
    lengths, values = [np.empty(0, dtype=np.int64)], []
    for chunk in table.column(name).chunks:
        flat = chunk.flatten()
        if flat.null_count:
            raise DataError(f"{file}: a list in '{name}' has an empty place; every place needs a number")
        lengths.append(chunk.value_lengths().fill_null(0).to_numpy().astype(np.int64))
        values.append(flat.to_numpy(zero_copy_only=False))
    return np.concatenate(lengths), np.concatenate(values) if values else np.empty(0)


def _sparse_lists(table: pa.Table, names: TableOptions, file: str) -> Features:
    import scipy.sparse

    lengths, indices = _lists(table, names.feature_index, file)
    value_lengths, values = _lists(table, names.feature_value, file)
    if not np.array_equal(lengths, value_lengths):
        raise DataError(f"{file}: '{names.feature_index}' and '{names.feature_value}' differ in length")
    most = names.feature_count or MAX_FEATURES
    if indices.size and (indices.min() < 0 or indices.max() >= most):
        outside = indices.min() if indices.min() < 0 else indices.max()
        raise DataError(f"{file}: a feature index lies outside 0 to {most - 1}: {outside}")
    columns = names.feature_count or int(indices.max(initial=-1)) + 1
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    # Copied, because Arrow's own memory cannot be sorted in place.
    parts = np.array(values), indices.astype(np.int64), indptr
    return to_sparse(scipy.sparse.csr_matrix(parts, shape=(table.num_rows, columns)))
