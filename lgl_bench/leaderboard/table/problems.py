"""What is wrong with a table, cell by cell, found column by column: a million rows are checked in seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import BoolArray
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.table.columns import Column, columns
from lgl_bench.leaderboard.table.names import PRINTED, Fact, metric_column

NO_REASON = "is empty, and so is the reason; say why there is no value"
HALF_INTERVAL = "leaves half an interval; give both ends or neither"
OUTSIDE = "puts the mean outside its interval; lo <= mean <= hi must hold"
NO_CHECKSUM = "is empty; only printed rows have no checksum"
NO_BUDGET_VERSION = "is 0; only printed rows have no budget version"

_SHOWN = 3
_LONGEST = 60
_MAX_PROBLEMS = 1000
"""Cells listed of one kind: a million wrong ones need not be counted."""


class Problem(NamedTuple):
    """A cell with a value it may not have; `row` counts from 0."""

    row: int
    column: str
    value: str
    what: str


def problems(frame: pd.DataFrame, metrics: Sequence[str]) -> list[Problem]:
    """Problems of a table whose columns have their types, in the order of rows."""
    found: list[Problem] = []
    for column in columns(metrics):
        found += _cells(frame, column)
    for name in metrics:
        found += _figures(frame, name)
    ours = (frame[Fact.TRUST] != PRINTED).to_numpy(dtype=bool)
    found += _named(frame, "stream_checksum", _is_empty(frame["stream_checksum"]) & ours, NO_CHECKSUM)
    no_version = (frame["budget_version"] == 0).fillna(False).to_numpy(dtype=bool)
    found += _named(frame, "budget_version", no_version & ours, NO_BUDGET_VERSION)
    return sorted(found)


def duplicates(frame: pd.DataFrame) -> list[Problem]:
    """Rows whose key an earlier row has."""
    again = frame.duplicated(list(KEY)).to_numpy()
    if not again.any():
        return []
    group = frame.groupby(list(KEY), sort=False).ngroup().to_numpy()
    first = {int(code): int(row) for row, code in reversed(list(enumerate(group)))}
    what = "has the same key as data row {}; keys must differ, so leave one of the two out"
    rows = np.flatnonzero(again)[:_MAX_PROBLEMS]
    return [
        Problem(int(row), "stream", str(frame["stream"].iloc[row]), what.format(first[int(group[row])] + 1))
        for row in rows
    ]


def refuse(where: str, found: Sequence[Problem], line_of: Callable[[int], int] | None = None) -> None:
    """Raises with the first few problems, if there are any.

    Args:
        where: The file.
        found: What is wrong.
        line_of: From a row to its line in the file; without it rows are counted from 1.
    """
    if not found:
        return
    listed = []
    for problem in found[:_SHOWN]:
        place = f"line {line_of(problem.row)}" if line_of else f"row {problem.row + 1}"
        value = problem.value if len(problem.value) <= _LONGEST else f"{problem.value[:_LONGEST]}..."
        listed.append(f"{place}, column '{problem.column}': {repr(value)} {problem.what}")
    left = len(found) - _SHOWN
    more = "" if left <= 0 else f"; and {left} more" if len(found) < _MAX_PROBLEMS else "; and many more"
    raise DataError(f"{where}: {'; '.join(listed)}{more}. docs/leaderboard.md says what each column holds")


def _cells(frame: pd.DataFrame, column: Column) -> Iterator[Problem]:
    values = frame[column.name]
    if column.kind == "text":
        if not column.empty:
            yield from _named(frame, column.name, _is_empty(values), "is not a value; the column must be filled")
        if column.choices:
            wrong = ~values.isin(column.choices).to_numpy(dtype=bool)
            yield from _named(frame, column.name, wrong, f"is none of {', '.join(filter(None, column.choices))}")
        return
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    empty = np.isnan(numbers)
    if not column.empty:
        yield from _named(frame, column.name, empty, "is not a value; the column must be filled")
    yield from _named(frame, column.name, np.isinf(numbers), "is not finite; leave it empty and give a reason")
    if column.low is not None:
        yield from _named(frame, column.name, numbers < column.low, f"is below {column.low:g}, the least there can be")
    if column.high is not None:
        yield from _named(frame, column.name, numbers > column.high, f"is above {column.high:g}, the most there can be")


def _figures(frame: pd.DataFrame, metric: str) -> Iterator[Problem]:
    at_mean, at_lo, at_hi = (metric_column(metric, suffix) for suffix in ("mean", "lo", "hi"))
    mean, lo, hi = (frame[name].to_numpy(dtype=np.float64) for name in (at_mean, at_lo, at_hi))
    yield from _named(frame, at_mean, np.isnan(mean) & _is_empty(frame[metric_column(metric, "reason")]), NO_REASON)
    no_lo, no_hi = np.isnan(lo), np.isnan(hi)
    yield from _named(frame, at_lo, no_lo & ~no_hi, HALF_INTERVAL)
    yield from _named(frame, at_hi, no_hi & ~no_lo, HALF_INTERVAL)
    outside = ~no_lo & ~no_hi & ~((lo <= mean) & (mean <= hi))
    yield from _named(frame, at_lo, outside, OUTSIDE)


def _named(frame: pd.DataFrame, column: str, wrong: BoolArray, what: str) -> Iterator[Problem]:
    for row in np.flatnonzero(wrong)[:_MAX_PROBLEMS]:
        value = frame[column].iloc[row]
        yield Problem(int(row), column, "" if pd.isna(value) else str(value), what)


def _is_empty(values: pd.Series[str]) -> BoolArray:
    found: BoolArray = (values.isna() | (values == "")).to_numpy(dtype=bool)
    return found
