"""Values of a table's columns as numbers: ids, dates as years or months, labels by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lgl_bench.core.errors import DataError, quoted
from lgl_bench.core.parquet import is_text
from lgl_bench.core.types import IntArray
from lgl_bench.streams.names import WHOLE
from lgl_bench.streams.stream import SPLIT_NAMES, Unit

_YEAR = r"^-?[0-9]{1,15}(\.0)?$"
_ISO = r"^(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])([T ].*)?)?$"


def values_of(table: pa.Table, name: str, file: str) -> npt.NDArray[Any]:
    """The values of a column, which may have no empty cell; text as Python strings."""
    column = table.column(name)
    missing = _missing(column)
    if missing.any():
        row = int(np.argmax(missing))
        raise DataError(f"{file}, row {row}: '{name}' is empty; every row needs one")
    if is_text(column.type):
        codes, words = coded(column)
        return np.array([*words, ""], dtype=object)[codes]
    values: npt.NDArray[Any] = _decoded(column).to_numpy()
    return values


def ids_of(table: pa.Table, name: str, file: str) -> npt.NDArray[Any]:
    """Ids: numbers if all of them are, else names."""
    column = table.column(name)
    if is_text(column.type) and not _missing(column).any() and len(column):
        text = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        if pc.all(pc.match_substring_regex(text, f"^{WHOLE}$")).as_py():
            numbers: npt.NDArray[Any] = pc.replace_substring_regex(text, r"\.0$", "").cast(pa.int64()).to_numpy()
            return numbers
    return values_of(table, name, file)


def times_of(table: pa.Table, name: str | None, file: str, unit: Unit) -> npt.NDArray[Any]:
    """Years, or months counted from the year 0 on; dates are rounded down to them."""
    if name is None:
        return np.zeros(table.num_rows, dtype=np.int64)
    column = table.column(name)
    if pa.types.is_temporal(column.type) and not column.null_count:
        year, month = (part(column).to_numpy() for part in (pc.year, pc.month))
        return _steps(year, month, unit)
    values = values_of(table, name, file)
    if not is_text(column.type):
        if unit == "month" and len(values):
            raise _no_month(file, name, 0, values[0])
        return values
    text = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
    years, dates = (pc.match_substring_regex(text, pattern).to_numpy() for pattern in (_YEAR, _ISO))
    if not (years | dates).all():
        row = int(np.argmin(years | dates))
        raise DataError(
            f"{file}, row {row}: the time {quoted(values[row])} is neither a year nor an ISO date such as 2014-05-06; "
            "correct the row"
        )
    if unit == "month" and years.any():
        row = int(np.argmax(years))
        raise _no_month(file, name, row, values[row])
    parts = [_year_month(value) if date else (int(float(value)), 1) for value, date in zip(values, dates, strict=True)]
    year, month = np.array(parts, dtype=np.int64).reshape(-1, 2).T
    return _steps(year, month, unit)


def _year_month(text: str) -> tuple[int, int]:
    return int(text[:4]), int(text[5:7])


def _steps(year: IntArray, month: IntArray, unit: Unit) -> IntArray:
    return 12 * year + month - 1 if unit == "month" else year


def _no_month(file: str, name: str, row: int, value: Any) -> DataError:
    return DataError(
        f"{file}, row {row}: '{name}' is {value}, which has no month; leave --unit month out, or name a column of "
        "dates such as 2014-05-06 with --option time=COLUMN"
    )


def labels_of(table: pa.Table, name: str | None) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Class ids; names become ids in sorted order, empty cells become -1."""
    if name is None or pa.types.is_null(table.column(name).type):
        return np.full(table.num_rows, -1, dtype=np.int64), ()
    column = table.column(name)
    if not is_text(column.type):
        plain = _decoded(column)
        whole = plain.cast(pa.int8()) if pa.types.is_boolean(plain.type) else plain
        return _without_nulls(whole), ()
    codes, words = coded(column)
    used = sorted({words[code] for code in np.unique(codes) if code >= 0} - {"", None})
    place = {word: number for number, word in enumerate(used)}
    # The CSV reader takes an empty cell of text for a name.
    numbers = np.array([*(place.get(word, -1) for word in words), -1], dtype=np.int64)
    return numbers[codes], tuple(used)


def split_of(table: pa.Table, name: str | None, file: str) -> npt.NDArray[np.int8] | None:
    """Codes of a published split."""
    if name is None:
        return None
    column = table.column(name)
    if pa.types.is_null(column.type):
        return np.zeros(table.num_rows, dtype=np.int8)
    codes, words = coded(column)
    known = {"": 0, **{text: code for code, text in enumerate(SPLIT_NAMES)}}
    numbers = np.array([*(known.get(word, -1) for word in words), 0], dtype=np.int8)[codes]
    if (numbers < 0).any():
        row = int(np.argmax(numbers < 0))
        raise DataError(f"{file}, row {row}: the split '{words[codes[row]]}' is none of {', '.join(SPLIT_NAMES)}")
    return numbers


def coded(column: pa.ChunkedArray) -> tuple[IntArray, list[str]]:
    """Text as codes and the words behind them, -1 if there is none: spelled out it could be of any size."""
    found = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if not found.num_chunks:
        return np.empty(0, dtype=np.int64), []
    words = found.chunk(0).dictionary.to_pylist()
    codes = np.concatenate([chunk.indices.fill_null(-1).to_numpy().astype(np.int64) for chunk in found.chunks])
    return codes, words


def _missing(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Which cells are empty; the CSV reader takes an empty cell of text for a word."""
    empty: npt.NDArray[np.bool_] = np.array(column.is_null().to_numpy())
    if is_text(column.type):
        codes, words = coded(column)
        empty |= np.array([*(word == "" for word in words), False], dtype=np.bool_)[codes]
    return empty


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers that are coded by a dictionary, as numbers."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


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
