"""Between a stream's arrays and the columns of its Parquet files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lgl_bench.core.types import IntArray, Sparse
from lgl_bench.streams.stream import Stream


def vertex_table(stream: Stream, start: int, stop: int) -> pa.Table:
    """The vertices of some rows of a stream, as they are stored."""
    columns: dict[str, Any] = {"id": stream.ids[start:stop], "label": stream.labels[start:stop]}
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


def vertex_columns(kind: str, columns: int, split: bool) -> list[str]:
    """Columns to read."""
    features = ["feature_index", "feature_value"] if kind == "sparse" else ["features"] if columns else []
    return ["id", "label", *(["split"] if split else []), *features]


def sparse_rows(table: pa.Table, columns: int) -> Sparse:
    """The sparse features of a table."""
    lists = table.column("feature_index").combine_chunks()
    lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
    indptr = lists.offsets.to_numpy().astype(np.int64)
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


def flat(table: pa.Table, name: str) -> Any:
    """The numbers of a list column, one after the other."""
    chunks = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in table.column(name).chunks]
    return chunks[0] if len(chunks) == 1 else np.concatenate([*chunks, np.empty(0, dtype=np.float32)])


def ints(table: pa.Table, name: str) -> IntArray:
    """A column of whole numbers."""
    values: IntArray = table.column(name).to_numpy()
    return values
