"""Between a stream's arrays and the columns of its Parquet files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lgl_bench.core.parquet import ColumnError, ColumnType, is_list, is_text
from lgl_bench.core.types import IntArray, Sparse
from lgl_bench.streams.stream import Stream

_INT64 = ColumnType("int64", pa.types.is_int64)
_INT8 = ColumnType("int8", pa.types.is_int8)
_TEXT = ColumnType("text", is_text)
_INDICES = ColumnType("a list of int32", lambda kind: is_list(kind) and bool(pa.types.is_int32(kind.value_type)))
_VALUES = ColumnType("a list of float32", lambda kind: is_list(kind) and bool(pa.types.is_float32(kind.value_type)))
EDGE_COLUMNS = {"source": _INT64, "target": _INT64}
"""The columns of edges."""


def vertex_table(stream: Stream, start: int, stop: int) -> pa.Table:
    """The vertices of some rows of a stream, as they are stored."""
    columns: dict[str, Any] = {"id": stream.ids[start:stop], "label": stream.labels[start:stop]}
    if stream.names is not None:
        columns["name"] = pa.array(stream.names[start:stop], pa.string())
    if stream.split is not None:
        columns["split"] = stream.split[start:stop]
    if isinstance(stream.features, Sparse):
        rows = stream.features.rows(start, stop)
        offsets = pa.array(rows.indptr.astype(np.int32))
        columns["feature_index"] = pa.ListArray.from_arrays(offsets, pa.array(rows.indices))
        columns["feature_value"] = pa.ListArray.from_arrays(offsets, pa.array(rows.values))
    elif stream.features.shape[1]:
        flat = pa.array(stream.features[start:stop].reshape(-1))
        columns["features"] = pa.FixedSizeListArray.from_arrays(flat, stream.features.shape[1])
    return pa.table(columns)


def vertex_columns(kind: str, columns: int, split: bool, names: bool = False) -> dict[str, ColumnType]:
    """The columns to read of vertices, and of which type each must be."""
    found = {"id": _INT64, "label": _INT64} | ({"split": _INT8} if split else {}) | ({"name": _TEXT} if names else {})
    if kind == "sparse":
        return found | {"feature_index": _INDICES, "feature_value": _VALUES}

    def is_row(kind: Any) -> bool:
        return bool(pa.types.is_fixed_size_list(kind) and kind.list_size == columns and _VALUES.matches(kind))

    return found | ({"features": ColumnType(f"a list of {columns} float32", is_row)} if columns else {})


def sparse_rows(table: pa.Table, columns: int) -> Sparse:
    """The sparse features of a table."""
    lengths = _lengths(table, "feature_index")
    if not np.array_equal(lengths, _lengths(table, "feature_value")):
        raise ColumnError("has lists of feature_index and feature_value that differ in length")
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Sparse(indptr, flat(table, "feature_index"), flat(table, "feature_value"), columns)


def stack(parts: list[Sparse], columns: int) -> Sparse:
    """Several blocks of sparse rows as one."""
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    return Sparse(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([part.indices for part in parts]).astype(np.int32),
        np.concatenate([part.values for part in parts]).astype(np.float32),
        columns,
    )


def flat(table: pa.Table, name: str) -> npt.NDArray[Any]:
    """The numbers of a list column, one after the other."""
    column = table.column(name)
    parts = [chunk.flatten() for chunk in column.chunks]
    if column.null_count or any(part.null_count for part in parts):
        raise ColumnError(f"has an empty place in the column '{name}'")
    kind = column.type.value_type.to_pandas_dtype()
    chunks = [part.to_numpy(zero_copy_only=False) for part in parts]
    return chunks[0] if len(chunks) == 1 else np.concatenate([*chunks, np.empty(0, dtype=kind)])


def ints(table: pa.Table, name: str) -> IntArray:
    """A column of whole numbers."""
    column = table.column(name)
    if column.null_count:
        raise ColumnError(f"has an empty place in the column '{name}'")
    values: IntArray = column.to_numpy()
    return values


def words(table: pa.Table, name: str) -> npt.NDArray[np.object_]:
    """A column of text."""
    column = table.column(name)
    if column.null_count:
        raise ColumnError(f"has an empty place in the column '{name}'")
    values: npt.NDArray[np.object_] = column.to_numpy(zero_copy_only=False).astype(object)
    return values


def _lengths(table: pa.Table, name: str) -> IntArray:
    chunks = [chunk.value_lengths().fill_null(0).to_numpy() for chunk in table.column(name).chunks]
    return np.concatenate([np.empty(0, dtype=np.int64), *chunks])
