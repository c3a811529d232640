"""Writing leaderboard CSVs, the same way every time: columns in their order, floats exact, nothing for undefined."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pandas as pd

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.files import clear_leftovers, write_text
from lgl_bench.leaderboard.table.columns import LAST, Column, columns, metrics_in
from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.leaderboard.table.problems import duplicates, problems, refuse
from lgl_bench.leaderboard.table.schema import SCHEMA_VERSION

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
        write_text(path, csv_text(ready))
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from error


def csv_text(frame: pd.DataFrame) -> str:
    """A table as the text of its file."""
    return frame.to_csv(index=False, lineterminator="\n")


def refuse_existing(path: Path, force: bool) -> None:
    """Raises if something is there that nobody asked to replace; a link counts, wherever it leads."""
    path = Path(path)
    if (path.exists() or path.is_symlink()) and not force:
        raise UsageError(f"{path} exists already; give --force to replace it, or another name")


def canonical(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with every column, in order and of its type; metrics it lacks are undefined."""
    found: dict[str, pd.Series] = {}
    metrics = metrics_in(frame)
    mean_of = {metric_column(metric, "reason"): metric_column(metric, "mean") for metric in metrics}
    for column in columns(metrics):
        if column.name in frame:
            values = frame[column.name]
        else:
            default = NOT_COMPUTED if column.name in mean_of else _default(column)
            values = pd.Series(default, index=frame.index, dtype=object)
        if _is_ready(values, column):
            found[column.name] = values
        elif column.kind == "text":
            # Of tables put together, one may lack a metric that another has.
            mean = mean_of.get(column.name)
            lacks = values.isna() & frame[mean].isna() if mean in frame else values.isna() & False
            found[column.name] = values.astype(object).where(values.notna(), "").mask(lacks, NOT_COMPUTED).astype(str)
        else:
            found[column.name] = pd.to_numeric(values).astype(_dtype(column))
    return pd.DataFrame(found).reset_index(drop=True)


def _is_ready(values: pd.Series, column: Column) -> bool:
    """Whether a column has its type already, as most of a table that was read or written before have."""
    if column.kind == "text":
        return bool(values.dtype == "str") and not values.hasnans
    return bool(values.dtype == _dtype(column))


def _default(column: Column) -> object:
    if column.name == LAST:
        return SCHEMA_VERSION
    return "" if column.kind == "text" else None


def _dtype(column: Column) -> Literal["float64", "Int64", "int64"]:
    return "float64" if column.kind == "real" else "Int64" if column.empty else "int64"
