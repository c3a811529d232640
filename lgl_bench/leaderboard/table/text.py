"""Leaderboard CSVs read as text: to compare cells with those of a stranger, or to show a table that may lack columns.

`read.py` is the strict reader, for tables that are ranked and merged.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from lgl_bench.core.errors import DataError
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.table.columns import LAST, columns
from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.leaderboard.table.write import csv_text

NOT_IN_TABLE = "not in this table"
"""The reason of a metric that a table has no columns of."""
_NEEDED = ("stream", "backbone", "detector")


def read_text(source: Path | bytes, most_rows: int | None = None) -> pd.DataFrame:
    """Every cell as it is written; an empty one is "".

    Args:
        source: The file, or its bytes.
        most_rows: Rows beyond these are not read.

    Raises:
        OSError: The file cannot be opened.
        ValueError: It is no CSV in UTF-8.
    """
    opened = io.BytesIO(source) if isinstance(source, bytes) else source
    return pd.read_csv(opened, dtype=str, keep_default_na=False, nrows=most_rows, encoding="utf-8")


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """A table as its file reads."""
    return read_text(csv_text(frame).encode()) if len(frame) else frame


def first_cells(path: Path) -> dict[str, str]:
    """The first row of a table by column; empty if there is no row.

    Raises:
        OSError: The file cannot be opened.
        ValueError: It is no CSV in UTF-8.
    """
    rows = read_text(path, 1).to_dict("records")
    return {str(name): str(cell) for name, cell in rows[0].items()} if rows else {}


def read_tolerant(path: Path, metrics: Iterable[str]) -> pd.DataFrame:
    """A table with the columns of some metrics, whatever it lacks; one odd cell need not end a report.

    Columns of the key and of text hold text, the others numbers. What a table lacks is empty; a number that is not
    finite is undefined; other columns are left out.

    Raises:
        DataError: It is no leaderboard CSV, or a number is none.
    """
    try:
        frame = read_text(path)
    except pd.errors.EmptyDataError:
        frame = pd.DataFrame()
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read as a CSV: {error}") from error
    missing = [name for name in _NEEDED if len(frame) and name not in frame]
    if missing:
        raise DataError(f"{path} has no column '{missing[0]}'; it is no leaderboard CSV")
    return completed(frame, metrics, str(path))


def completed(frame: pd.DataFrame, metrics: Iterable[str], path: str = "") -> pd.DataFrame:
    """A table of text as `read_tolerant` returns it."""
    metrics = list(metrics)
    defaults = {metric_column(metric, "reason"): NOT_IN_TABLE for metric in metrics}
    found: dict[str, object] = {}
    for column in columns(metrics):
        name = column.name
        if name == LAST:  # a table of any version is shown
            continue
        if name in KEY or column.kind == "text":
            default = pd.Series(defaults.get(name, ""), index=frame.index, dtype=object)
            found[name] = frame[name].astype(str) if name in frame else default
        else:
            found[name] = _numbers(frame[name], name, path) if name in frame else np.nan
    return pd.DataFrame(found, index=frame.index)


def _numbers(cells: pd.Series[str], name: str, path: str) -> pd.Series[float]:
    found = pd.to_numeric(cells.where(cells != "", None), errors="coerce").astype(float)
    bad = found.isna() & (cells != "") & (cells.str.lower() != "nan")
    if bad.any():
        line = int(bad.to_numpy().argmax()) + 2
        raise DataError(f"{path}, line {line}, column {name}: '{cells[bad].iloc[0][:80]}' is no number")
    return found.where(found.abs() != float("inf"))
