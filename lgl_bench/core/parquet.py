"""Parquet files of strangers: their schema is looked at before a column is read, their size before it is decoded.

A few bytes of dictionary or of run lengths can stand for gigabytes, so that the size of a file says little about the
memory its columns take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

_FLOOR = 256 * 2**20  # as much is decoded from any file, however small
_RATIO = 1000  # bytes in memory per byte of file: more than columns of real data need, few values repeated apart
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
_LEVELS = 4  # definition and repetition levels beside each value
_DAMAGE = (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError)


class ParquetError(Exception):
    """Why a file is not read, as the rest of a sentence about it; it is for the reader to say what to do."""


class ColumnError(ParquetError):
    """A column is missing, there twice, or of another type."""


class ColumnType(NamedTuple):
    """A type that a column must have."""

    name: str
    matches: Callable[[Any], bool]
    optional: bool = False


def is_list(kind: Any) -> bool:
    """Whether a type is one of Arrow's lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_number(kind: Any) -> bool:
    """Whether a type is one of whole numbers or floats."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_text(kind: Any) -> bool:
    """Whether a type is text, spelled out or by dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def open_parquet(source: Path | Any, size: int) -> pq.ParquetFile:
    """A Parquet file of `size` bytes, of which only what it says of itself is read.

    Text stays coded by dictionary, as it is in the file: spelled out it can be any number of times as large.

    Raises:
        ParquetError: It is damaged, or its columns would take far more memory than it has bytes.
    """
    try:
        file = pq.ParquetFile(source)
        names = [field.name for field in file.schema_arrow if is_text(field.type)]
        if names:
            file = pq.ParquetFile(source, read_dictionary=names)
        needed = _decoded_bytes(file)
    except _DAMAGE as error:
        raise ParquetError(f"cannot be read: {error}") from error
    if needed > max(_FLOOR, _RATIO * size):
        raise ParquetError(f"has {size:,} bytes, but its columns would take {needed:,} bytes of memory")
    return file


def read_columns(file: pq.ParquetFile, wanted: Mapping[str, ColumnType]) -> pa.Table:
    """The columns that are wanted, each of its type; those that are optional may be missing.

    Raises:
        ColumnError: A column is missing, there twice, or of another type.
        ParquetError: The file is damaged.
    """
    names = check_columns(file.schema_arrow, wanted)
    try:
        return file.read(columns=names)
    except _DAMAGE as error:
        raise ParquetError(f"cannot be read: {error}") from error


def check_columns(schema: pa.Schema, wanted: Mapping[str, ColumnType]) -> list[str]:
    """Which of the columns are there, each once and of its type.

    Raises:
        ColumnError: One is missing that is not optional, there twice, or of another type.
    """
    found = []
    for name, column in wanted.items():
        places = schema.get_all_field_indices(name)
        if len(places) > 1:
            raise ColumnError(f"has the column '{name}' {len(places)} times; leave one")
        if not places and not column.optional:
            raise ColumnError(f"has no column '{name}'; its columns are {', '.join(schema.names)}")
        if places:
            kind = schema.field(places[0]).type
            if not column.matches(kind):
                shown = "text" if is_text(kind) else kind
                raise ColumnError(f"has a column '{name}' of type {shown}, where {column.name} must be")
            found.append(name)
    return found


def _decoded_bytes(file: pq.ParquetFile) -> int:
    """Memory that all columns take once they are decoded, as the file's metadata has it."""
    metadata = file.metadata
    total: int = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        for j in range(group.num_columns):
            column = group.column(j)
            width = _WIDTHS.get(column.physical_type) or max(file.schema.column(j).length, 1)
            total += max(column.num_values, 0) * (width + _LEVELS)
            if column.physical_type == "BYTE_ARRAY":
                total += max(column.total_uncompressed_size, 0)
    # A null in a list of fixed size takes as much memory as the list.
    for field in file.schema_arrow:
        if pa.types.is_fixed_size_list(field.type):
            total += 8 * int(field.type.list_size) * int(metadata.num_rows)
    return total
