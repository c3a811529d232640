"""Writing leaderboard CSVs, the same way every time: columns in their order, floats exact, nothing for undefined."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pandas as pd

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.files import clear_leftovers, write_text
from lgl_bench.leaderboard.columns import LAST, Column, columns, metrics_in
from lgl_bench.leaderboard.problems import duplicates, problems, refuse
from lgl_bench.leaderboard.schema import SCHEMA_VERSION

NOT_COMPUTED = "not computed"


def write_board(frame: pd.DataFrame, path: Path, *, force: bool = False) -> None:
    """Writes a table, whole or not at all.

    Raises:
        UsageError: The file is there and `force` is not given.
        DataError: The table is not a valid one.
    """
    path = Path(path)
    refuse_existing(path, force)
    ready = canonical(frame)
    refuse("the table to be written", sorted([*problems(ready, metrics_in(ready)), *duplicates(ready)]))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(path)
        write_text(path, ready.to_csv(index=False, lineterminator="\n"))
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from error


def refuse_existing(path: Path, force: bool) -> None:
    """Raises where a file would be replaced unasked."""
    if Path(path).exists() and not force:
        raise UsageError(f"{path} exists already; give --force to replace it, or another name")


def canonical(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with every column, in order and of its type; metrics it lacks are undefined."""
    found: dict[str, pd.Series] = {}
    for column in columns(metrics_in(frame)):
        if column.name in frame:
            values = frame[column.name]
        else:
            values = pd.Series(_default(column), index=frame.index, dtype=object)
        if column.kind == "text":
            # Of tables put together, one may lack a metric that another has.
            figure = column.name.removesuffix("_reason") + "_mean"
            lacks = values.isna() & frame[figure].isna() if figure in frame else values.isna() & False
            found[column.name] = values.astype(object).where(values.notna(), "").mask(lacks, NOT_COMPUTED).astype(str)
        else:
            found[column.name] = pd.to_numeric(values).astype(_dtype(column))
    return pd.DataFrame(found).reset_index(drop=True)


def _default(column: Column) -> object:
    if column.name == LAST:
        return SCHEMA_VERSION
    return NOT_COMPUTED if column.name.endswith("_reason") else "" if column.kind == "text" else None


def _dtype(column: Column) -> Literal["float64", "Int64", "int64"]:
    return "float64" if column.kind == "real" else "Int64" if column.empty else "int64"
