"""Tables somebody else wrote: read without trusting their metadata, and compared cell by cell.

Parquet is read with Arrow alone, never through pandas' own metadata; only columns of numbers, truth values and text
are taken. Anything else (binary, nested, an extension type, a pickled object) is refused.
"""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.parquet import ParquetError, is_text, open_parquet
from lgl_bench.leaderboard.table.text import read_text
from lgl_bench.submissions.bundle.layout import MIB, BundleError

_MAX_COLUMNS = 20_000
_MAX_UNPACKED = 1024 * MIB
_WIDEST = 8  # bytes of a number, and of the place of a text
_LONGEST = 100_000  # bytes of a text, such as the reason of a failure
_PICKLED = b"arrow.py_extension_type"
EXACT = 1e-9


def read_parquet(path: Path, name: str, most_rows: int, *, text: bool = False) -> dict[str, npt.NDArray[Any]]:
    """The columns of a table.

    A few bytes of Parquet can stand for gigabytes: one value repeated a million times, a long text among them. So
    types, rows and columns are looked at first, and text is taken once per distinct value.

    Args:
        path: Where it is.
        name: What it is called in messages.
        most_rows: A table with more is refused before it is unpacked.
        text: Whether columns of text have a place in it.
    """
    try:
        meta = pq.read_metadata(path)
        _check_size(name, meta, most_rows)
        file = open_parquet(path, path.stat().st_size)
        for field in file.schema_arrow:
            _check_type(name, field, text)
        names = file.schema_arrow.names
        if len(set(names)) != len(names):
            raise BundleError(f"{name} has a column twice")
        table = file.read(use_threads=False)
        if table.num_rows != meta.num_rows:
            raise BundleError(f"{name} has {table.num_rows:,} rows; its metadata says {meta.num_rows:,}")
        return {column: _values(f"{name}, column {ascii(column)}", table.column(column)) for column in names}
    except (OSError, ValueError, OverflowError, ParquetError, pa.ArrowException) as error:
        raise BundleError(f"{name} is no readable Parquet table: {error}") from error


def _check_size(name: str, meta: Any, most_rows: int) -> None:
    """Raises if a table would not fit, by its metadata alone."""
    for value in (meta.metadata or {}).values():
        if _PICKLED in value or _PICKLED in _decoded(value):
            raise BundleError(f"{name} holds a pickle: a column of a Python type")
    if meta.num_columns > _MAX_COLUMNS:
        raise BundleError(f"{name} has {meta.num_columns:,} columns; at most {_MAX_COLUMNS:,} are read")
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)] if meta.num_row_groups <= most_rows + 1 else []
    if not 0 <= meta.num_rows <= most_rows or sum(group.num_rows for group in groups) != meta.num_rows:
        raise BundleError(f"{name} has {meta.num_rows:,} rows; there can be at most {most_rows:,}")
    for group in groups:
        if any(group.column(at).num_values != group.num_rows for at in range(meta.num_columns)):
            raise BundleError(f"{name} has a column with another number of values than rows")
    claimed = sum(group.total_byte_size for group in groups)
    unpacked = max(claimed, meta.num_rows * meta.num_columns * _WIDEST)
    if unpacked > _MAX_UNPACKED:
        raise BundleError(f"{name} would unpack to {unpacked:,} bytes; at most {_MAX_UNPACKED:,} are read")


def _check_type(name: str, field: Any, text: bool) -> None:
    kind = field.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if not (plain or (text and (is_text(kind) or pa.types.is_null(kind)))):
        taken = "numbers, truth values and text" if text else "numbers and truth values"
        raise BundleError(
            f"{name}, column {ascii(field.name[:200])}: it is of type {kind}; only {taken} are taken, never an object "
            "that could be a pickle"
        )


def _decoded(value: bytes) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        return b""


def _values(name: str, column: Any) -> npt.NDArray[Any]:
    if pa.types.is_dictionary(column.type):
        return np.concatenate([np.empty(0, dtype=object), *(_texts(name, chunk) for chunk in column.chunks)])
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    values: npt.NDArray[Any] = column.to_numpy()
    return values


def _texts(name: str, chunk: Any) -> npt.NDArray[Any]:
    """Texts by their number, each made once; no text is None."""
    if (
        max((len(value) for value in chunk.dictionary.cast(pa.large_binary()).to_pylist() if value), default=0)
        > _LONGEST
    ):
        raise BundleError(f"{name}: a text has more than {_LONGEST:,} bytes")
    texts = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
    found: npt.NDArray[Any] = texts[chunk.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)]
    return found


def read_board_text(data: bytes, name: str, most_rows: int) -> pd.DataFrame:
    """A leaderboard CSV as text, cell by cell."""
    try:
        frame = read_text(data, most_rows + 1)
    except ValueError as error:
        raise BundleError(f"{name} is no readable CSV: {error}") from error
    if len(frame) > most_rows:
        raise BundleError(f"{name} has more than the {most_rows:,} rows that can be recomputed")
    return frame


def differences(
    name: str,
    given: pd.DataFrame,
    right: pd.DataFrame,
    keys: list[str],
    tolerance: float = EXACT,
    skip: frozenset[str] = frozenset(),
) -> list[str]:
    """Where a table is not what it should be: one sentence per row or cell, with both values.

    Args:
        name: Of the file.
        given: As it was sent.
        right: As it should be.
        keys: Columns that name a row.
        tolerance: How far numbers may lie apart.
        skip: Columns that are not compared.
    """
    found = [f"{name}: the column {column} is missing" for column in right if column not in given]
    found += [f"{name}: the column {ascii(str(column))} has no place" for column in given if column not in right]
    if found:
        return found
    ours, theirs = _by_key(right, keys), _by_key(given, keys)
    if len(theirs) != len(given):
        found.append(f"{name}: a row is there twice")
    found += [f"{name}: the row {_shown(keys, key)} is missing" for key in ours if key not in theirs]
    found += [f"{name}: the row {_shown(keys, key)} has no place" for key in theirs if key not in ours]
    columns = [str(column) for column in right if column not in skip and column not in keys]
    for key in (key for key in ours if key in theirs):
        for column in columns:
            one, other = theirs[key][column], ours[key][column]
            if not same(one, other, tolerance):
                found.append(
                    f"{name}, row {_shown(keys, key)}, column {column}: {_cell(one)} was sent, it is {_cell(other)}"
                    f"{_apart(one, other)}"
                )
    return found


def same(one: Any, other: Any, tolerance: float) -> bool:
    """Whether two cells are equal, numbers within a tolerance; nothing equals nothing only."""
    if _empty(one) or _empty(other):
        return _empty(one) and _empty(other)
    if str(one) == str(other):
        return True
    a, b = _number(one), _number(other)
    return a is not None and b is not None and bool(abs(a - b) <= tolerance)


def _by_key(frame: pd.DataFrame, keys: list[str]) -> dict[tuple[str, ...], dict[str, Any]]:
    records = frame.to_dict("records")
    return {tuple(str(record[key]) for key in keys): {str(k): v for k, v in record.items()} for record in records}


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value) or (isinstance(value, float) and math.isnan(value))


def _number(value: Any) -> float | None:
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _apart(one: Any, other: Any) -> str:
    a, b = _number(one), _number(other)
    return "" if a is None or b is None else f" ({abs(a - b):.3g} apart)"


def _shown(keys: list[str], key: tuple[str, ...]) -> str:
    wanted = ("stream", "split", "strategy", "backbone", "detector", "threshold", "seed", "time", "fold")
    parts = [f"{name} {value}" for name, value in zip(keys, key, strict=True) if name in wanted and value]
    return ascii(", ".join(parts))[1:-1][:300]


def _cell(value: Any) -> str:
    return "nothing" if _empty(value) else ascii(str(value)[:100]).strip("'")
