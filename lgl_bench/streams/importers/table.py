"""Everybody else's graph: a table of vertices and a table of edges, Parquet or CSV, with named columns.

`vertices.{parquet,csv}` has an id, and where they exist a time, a label (numbers or names), a published
split (train, validation, test) and features: one list column, index and value list columns, or one column a
feature. `edges.{parquet,csv}` has source and target.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import Features
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.files import Options, find_file, maybe_sparse, to_sparse
from lgl_bench.streams.raw import RawGraph
from lgl_bench.streams.stream import SPLIT_NAMES


class TableOptions(Options):
    """Names of the columns; `features` is a list column or a pattern such as `f_*`."""

    id: str = "id"
    time: str = "time"
    label: str = "label"
    split: str = "split"
    features: str = "features"
    feature_index: str = "feature_index"
    feature_value: str = "feature_value"
    feature_count: int | None = None
    source: str = "source"
    target: str = "target"


@importers.register("table")
def read_table(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the two tables of a folder."""
    names = TableOptions.read(options, "table")
    vertex_file = find_file(source, "vertices.parquet", "vertices.csv")
    edge_file = find_file(source, "edges.parquet", "edges.csv")
    vertices, edges = _read(vertex_file), _read(edge_file)
    ids = _column(vertices, names.id, vertex_file)
    labels, class_names = _labels(vertices, names.label)
    return RawGraph(
        ids=ids,
        born=_numbers(vertices, names.time, vertex_file, 0),
        labels=labels,
        features=_features(vertices, names, vertex_file),
        edges=np.stack([_column(edges, name, edge_file) for name in (names.source, names.target)]),
        split=_split(vertices, names.split, vertex_file),
        class_names=class_names,
        vertex_file=vertex_file.name,
        edge_file=edge_file.name,
        # Line 1 of a CSV is its header.
        edge_lines=np.arange(2, edges.num_rows + 2) if edge_file.suffix == ".csv" else None,
    )


def _read(path: Path) -> pa.Table:
    try:
        return pq.read_table(path) if path.suffix == ".parquet" else pyarrow.csv.read_csv(path)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read ({error}); is the file cut short? Write it again") from error


def _column(table: pa.Table, name: str, file: Path) -> npt.NDArray[Any]:
    if name not in table.column_names:
        raise DataError(
            f"{file.name} has no column '{name}'; its columns are {', '.join(table.column_names)}. "
            "Name the right one with --option, for example --option id=paper_id"
        )
    column = table.column(name)
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise DataError(f"{file.name}, row {row}: '{name}' is empty; every row needs one")
    values: npt.NDArray[Any] = column.to_numpy()
    return values


def _numbers(table: pa.Table, name: str, file: Path, default: int) -> npt.NDArray[Any]:
    if name not in table.column_names:
        return np.full(table.num_rows, default, dtype=np.int64)
    return _column(table, name, file)


def _labels(table: pa.Table, name: str) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Class ids; names become ids in sorted order, empty cells become -1."""
    if name not in table.column_names:
        return np.full(table.num_rows, -1, dtype=np.int64), ()
    column = _without_blanks(table, name)
    if pd.api.types.is_numeric_dtype(column):
        return column.fillna(-1).to_numpy(), ()
    codes, uniques = pd.factorize(column, sort=True)
    return codes.astype(np.int64), tuple(str(value) for value in uniques)


def _without_blanks(table: pa.Table, name: str) -> pd.Series[Any]:
    """A column whose empty cells are missing values; of text, the CSV reader takes them for names."""
    column: pd.Series[Any] = table.column(name).to_pandas()
    return column if pd.api.types.is_numeric_dtype(column) else column.mask(column == "")


def _split(table: pa.Table, name: str, file: Path) -> npt.NDArray[np.int8] | None:
    if name not in table.column_names:
        return None
    values = _without_blanks(table, name).fillna("none").astype(str)
    codes = values.map({text: code for code, text in enumerate(SPLIT_NAMES)})
    if codes.isna().any():
        row = int(codes.isna().to_numpy().argmax())
        raise DataError(f"{file.name}, row {row}: the split '{values[row]}' is none of {', '.join(SPLIT_NAMES)}")
    return np.asarray(codes, dtype=np.int8)


def _features(table: pa.Table, names: TableOptions, file: Path) -> Features:
    if names.feature_index in table.column_names:
        return _sparse_lists(table, names, file)
    if names.features in table.column_names and _is_list(table, names.features):
        column = table.column(names.features).combine_chunks()
        lengths = set(column.value_lengths().to_pylist() if len(column) else [0])
        if len(lengths) != 1 or None in lengths:
            raise DataError(
                f"{file.name}: the lists in '{names.features}' differ in length: {sorted(map(str, lengths))}"
            )
        rows = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        return maybe_sparse(rows, file.name)
    chosen = [name for name in table.column_names if fnmatchcase(name, names.features)]
    if not chosen:
        return np.zeros((table.num_rows, 0), dtype=np.float32)
    return maybe_sparse(np.column_stack([_column(table, name, file) for name in chosen]), file.name)


def _is_list(table: pa.Table, name: str) -> bool:
    kind = table.schema.field(name).type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _sparse_lists(table: pa.Table, names: TableOptions, file: Path) -> Features:
    import scipy.sparse

    for name in (names.feature_index, names.feature_value):
        if name not in table.column_names or not _is_list(table, name):
            raise DataError(
                f"{file.name} has no list column '{name}'; sparse features need '{names.feature_index}' and "
                f"'{names.feature_value}', a list of numbers each"
            )
    index = table.column(names.feature_index).combine_chunks()
    value = table.column(names.feature_value).combine_chunks()
    lengths = index.value_lengths().fill_null(0).to_numpy()
    if not np.array_equal(lengths, value.value_lengths().fill_null(0).to_numpy()):
        raise DataError(f"{file.name}: '{names.feature_index}' and '{names.feature_value}' differ in length")
    # Copied, because Arrow's own memory cannot be sorted in place.
    indices, values = (np.array(lists.flatten().to_numpy(zero_copy_only=False)) for lists in (index, value))
    columns = names.feature_count or int(indices.max(initial=-1)) + 1
    if indices.size and (indices.min() < 0 or indices.max() >= columns):
        raise DataError(f"{file.name}: a feature index lies outside 0 to {columns - 1}")
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return to_sparse(scipy.sparse.csr_matrix((values, indices, indptr), shape=(table.num_rows, columns)))
