"""Everybody else's graph: a table of vertices and a table of edges, Parquet or CSV, with named columns.

`vertices.{parquet,csv}` has an id, and if they exist a time, a label (numbers or names), a published
split (train, validation, test) and features: one list column, index and value list columns, or one column a
feature. `edges.{parquet,csv}` has source and target.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lgl_bench.core.errors import DataError
from lgl_bench.core.parquet import is_text
from lgl_bench.core.types import Features, IntArray
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.files import MAX_FEATURES, find_file, maybe_sparse, to_sparse
from lgl_bench.streams.importers.table_columns import TableOptions, edge_columns, read_table_file, vertex_columns
from lgl_bench.streams.raw import RawGraph
from lgl_bench.streams.stream import SPLIT_NAMES


@importers.register("table")
def read_table(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the two tables of a folder."""
    names = TableOptions.read(options, "table")
    vertex_file = find_file(source, "vertices.parquet", "vertices.csv")
    edge_file = find_file(source, "edges.parquet", "edges.csv")
    vertices = read_table_file(vertex_file, vertex_columns(names))
    edges = read_table_file(edge_file, edge_columns(names))
    labels, class_names = _labels(vertices, names.label)
    return RawGraph(
        ids=_column(vertices, names.id, vertex_file),
        born=_numbers(vertices, names.time, vertex_file, 0),
        labels=labels,
        features=_features(vertices, names, vertex_file),
        edges=_ends(edges, names, edge_file),
        split=_split(vertices, names.split, vertex_file),
        class_names=class_names,
        vertex_file=vertex_file.name,
        edge_file=edge_file.name,
        # Line 1 of a CSV is its header.
        edge_lines=np.arange(2, edges.num_rows + 2) if edge_file.suffix == ".csv" else None,
    )


def _ends(table: pa.Table, names: TableOptions, file: Path) -> npt.NDArray[Any]:
    """(2, m) ids; of two types if need be, which are looked at one by one later."""
    ends = [_column(table, name, file) for name in (names.source, names.target)]
    same = ends[0].dtype == ends[1].dtype or {end.dtype.kind for end in ends} <= set("iuf")
    return np.stack(ends if same else [end.astype(object) for end in ends])


def _column(table: pa.Table, name: str, file: Path) -> npt.NDArray[Any]:
    column = table.column(name)
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise DataError(f"{file.name}, row {row}: '{name}' is empty; every row needs one")
    if is_text(column.type):
        codes, words = _words(column)
        return np.array([*words, ""], dtype=object)[codes]
    values: npt.NDArray[Any] = _decoded(column).to_numpy()
    return values


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers that are coded by a dictionary, as numbers."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _words(column: pa.ChunkedArray) -> tuple[IntArray, list[str]]:
    """Text as codes and the words behind them, -1 if there is none: spelled out it could be of any size."""
    coded = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if not coded.num_chunks:
        return np.empty(0, dtype=np.int64), []
    words = coded.chunk(0).dictionary.to_pylist()
    codes = np.concatenate([chunk.indices.fill_null(-1).to_numpy().astype(np.int64) for chunk in coded.chunks])
    return codes, words


def _numbers(table: pa.Table, name: str, file: Path, default: int) -> npt.NDArray[Any]:
    if name not in table.column_names:
        return np.full(table.num_rows, default, dtype=np.int64)
    return _column(table, name, file)


def _labels(table: pa.Table, name: str) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Class ids; names become ids in sorted order, empty cells become -1."""
    if name not in table.column_names or pa.types.is_null(table.column(name).type):
        return np.full(table.num_rows, -1, dtype=np.int64), ()
    column = table.column(name)
    if not is_text(column.type):
        plain = _decoded(column)
        whole = plain.cast(pa.int8()) if pa.types.is_boolean(plain.type) else plain
        return _without_nulls(whole), ()
    codes, words = _words(column)
    used = sorted({words[code] for code in np.unique(codes) if code >= 0} - {"", None})
    place = {word: number for number, word in enumerate(used)}
    # The CSV reader takes an empty cell of text for a name.
    numbers = np.array([*(place.get(word, -1) for word in words), -1], dtype=np.int64)
    return numbers[codes], tuple(used)


def _without_nulls(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Numbers, -1 for an empty cell, of a type that holds both exactly."""
    if not column.null_count:
        plain: npt.NDArray[Any] = column.to_numpy()
        return plain
    missing = column.is_null().to_numpy()
    values: npt.NDArray[Any] = column.fill_null(0).to_numpy()
    return np.where(missing, -1, _whole_if_small(values))


def _whole_if_small(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Unsigned numbers as signed ones, unless they would change; those are refused later."""
    small = values.dtype.kind == "u" and not (values > np.iinfo(np.int64).max).any()
    return values.astype(np.int64) if small or values.dtype.kind == "i" else values


def _split(table: pa.Table, name: str, file: Path) -> npt.NDArray[np.int8] | None:
    if name not in table.column_names:
        return None
    column = table.column(name)
    if pa.types.is_null(column.type):
        return np.zeros(table.num_rows, dtype=np.int8)
    codes, words = _words(column)
    known = {"": 0, **{text: code for code, text in enumerate(SPLIT_NAMES)}}
    numbers = np.array([*(known.get(word, -1) for word in words), 0], dtype=np.int8)[codes]
    if (numbers < 0).any():
        row = int(np.argmax(numbers < 0))
        raise DataError(f"{file.name}, row {row}: the split '{words[codes[row]]}' is none of {', '.join(SPLIT_NAMES)}")
    return numbers


def _features(table: pa.Table, names: TableOptions, file: Path) -> Features:
    if names.feature_index in table.column_names:
        return _sparse_lists(table, names, file)
    used = {names.id, names.time, names.label, names.split}
    chosen = [name for name in table.column_names if name not in used]
    if not chosen:
        return np.zeros((table.num_rows, 0), dtype=np.float32)
    if pa.types.is_nested(table.column(chosen[0]).type):
        lengths, values = _lists(table, chosen[0], file)
        if len(np.unique(lengths)) > 1:
            several = ", ".join(map(str, np.unique(lengths)[:5]))
            raise DataError(f"{file.name}: the lists in '{chosen[0]}' differ in length: {several}")
        return maybe_sparse(values.reshape(len(lengths), int(lengths[0]) if len(lengths) else 0), file.name)
    return maybe_sparse(np.column_stack([_column(table, name, file) for name in chosen]), file.name)


def _lists(table: pa.Table, name: str, file: Path) -> tuple[IntArray, npt.NDArray[Any]]:
    """Lengths of the lists of a column, and their numbers one after the other."""
    lengths, values = [np.empty(0, dtype=np.int64)], []
    for chunk in table.column(name).chunks:
        flat = chunk.flatten()
        if flat.null_count:
            raise DataError(f"{file.name}: a list in '{name}' has an empty place; every place needs a number")
        lengths.append(chunk.value_lengths().fill_null(0).to_numpy().astype(np.int64))
        values.append(flat.to_numpy(zero_copy_only=False))
    return np.concatenate(lengths), np.concatenate(values) if values else np.empty(0)


def _sparse_lists(table: pa.Table, names: TableOptions, file: Path) -> Features:
    import scipy.sparse

    lengths, indices = _lists(table, names.feature_index, file)
    value_lengths, values = _lists(table, names.feature_value, file)
    if not np.array_equal(lengths, value_lengths):
        raise DataError(f"{file.name}: '{names.feature_index}' and '{names.feature_value}' differ in length")
    most = names.feature_count or MAX_FEATURES
    if indices.size and (indices.min() < 0 or indices.max() >= most):
        outside = indices.min() if indices.min() < 0 else indices.max()
        raise DataError(f"{file.name}: a feature index lies outside 0 to {most - 1}: {outside}")
    columns = names.feature_count or int(indices.max(initial=-1)) + 1
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    # Copied, because Arrow's own memory cannot be sorted in place.
    parts = np.array(values), indices.astype(np.int64), indptr
    return to_sparse(scipy.sparse.csr_matrix(parts, shape=(table.num_rows, columns)))
