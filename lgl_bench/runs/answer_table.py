"""Columns of answers: what they are called, and of which type they are.

vertex, time, class_pred   int64
confidence                 float64
novelty:EXPR               float64
neighbour:EXPR             float64
rejected:EXPR|THRESHOLD    bool
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lgl_bench.core.parquet import ParquetError, open_parquet

_WHOLE = ("vertex", "time", "class_pred")
_NUMBERS = ("confidence", "novelty", "neighbour")
FIRST = (*_WHOLE, "confidence")
"""Columns that every file begins with."""


def parse_answers(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """The columns of an answers file.

    Raises:
        ParquetError: It is damaged, or a column is missing, there twice, or not what it must be.
    """
    file = open_parquet(pa.BufferReader(data), len(data))
    names = [str(name) for name in file.schema_arrow.names]
    for name in ("vertex", "class_pred"):
        if name not in names:
            raise ParquetError(f"has no column '{name}'")
    for name in names:
        wanted = _type_of(name)
        if names.count(name) > 1 or wanted is None:
            raise ParquetError(f"has a column {ascii(name[:100])} {'twice' if wanted else 'that has no place there'}")
        kind = file.schema_arrow.field(name).type
        if kind != wanted:
            raise ParquetError(f"has a column {ascii(name[:100])} of type {kind}, where {wanted} must be")
    try:
        # One file, one thread: a data set scan would cost more than the reading.
        table = file.read(use_threads=False)
    except (OSError, pa.ArrowException, OverflowError) as error:
        raise ParquetError(f"cannot be read: {error}") from error
    found = {name: table.column(name) for name in names}
    for name, column in found.items():
        if column.null_count or (column.type == pa.float64() and not np.isfinite(column.to_numpy()).all()):
            raise ParquetError(f"has a column {ascii(name[:100])} with values that are empty or not finite")
    return {name: column.to_numpy() for name, column in found.items()}


def _type_of(name: str) -> Any:
    """The type of a column; None for one that has no place in answers."""
    kind, colon, rest = name.partition(":")
    if name in _WHOLE:
        return pa.int64()
    if name == "confidence" or (kind in _NUMBERS and colon and rest):
        return pa.float64()
    return pa.bool_() if kind == "rejected" and rest else None
