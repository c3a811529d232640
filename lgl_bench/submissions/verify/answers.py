"""Whether answers are answers to the tasks of the protocol: these vertices, these years, these classes, in range."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lgl_bench.core.types import IntArray
from lgl_bench.plans.rebuild import Expected
from lgl_bench.runs.answer_columns import CONFIDENCE, PREDICTED, TIME, VERTEX, WHOLE, ScoreColumn
from lgl_bench.submissions.bundle.layout import BundleError
from lgl_bench.submissions.verify.tables import read_parquet


def read_answers(path: Path, name: str, expected: Expected, *, external: bool = False) -> dict[str, npt.NDArray[Any]]:
    """The columns of an answers file that keeps the contract; what breaks it is named with its column and vertex.

    Means over the neighbours are only held to their range: the neighbours of a scored vertex are mostly not scored, so
    their mean cannot be recomputed from a bundle. Only running the method again shows whether it is right.

    Args:
        path: Of the file.
        name: What it is called in messages.
        expected: What the protocol says of the task.
        external: Whether the answers were made outside lgl-bench, and may say nothing of their confidence.
    """
    columns = read_parquet(path, name, len(expected.vertices))
    for column in WHOLE:
        if column not in columns:
            raise BundleError(f"{name}: the column {column} is missing")
        if columns[column].dtype != np.int64:
            raise BundleError(f"{name}, column {column}: it is of type {columns[column].dtype}, not int64")
    if CONFIDENCE not in columns and not external:
        raise BundleError(f"{name}: the column {CONFIDENCE} is missing")
    _check_vertices(name, columns[VERTEX], expected)
    for column, values in columns.items():
        if column in WHOLE:
            continue
        parsed = ScoreColumn.parse(column)
        if not (parsed or column == CONFIDENCE) or len(column) > 1000:
            raise BundleError(f"{name}: the column {ascii(column[:200])} has no place in answers")
        decides = parsed is not None and parsed.kind == "rejected"
        wanted = np.bool_ if decides else np.float64
        if values.dtype != wanted:
            raise BundleError(f"{name}, column {ascii(column)}: it is of type {values.dtype}, not {wanted.__name__}")
        if not decides:
            _check_range(name, column, values, expected)
    _check_where(name, TIME, columns[TIME] != expected.time, columns[TIME], expected, f"the year {expected.time}")
    known = ", ".join(map(str, expected.known.tolist()[:20]))
    unknown = ~np.isin(columns[PREDICTED], expected.known)
    _check_where(name, PREDICTED, unknown, columns[PREDICTED], expected, f"one of the known classes {known}")
    return columns


def read_matrix(path: Path, name: str, vertices: int, known: Sequence[int]) -> IntArray:
    """The classes that a model gives to the vertices of every year: one for each, and all of them known to it."""
    columns = read_parquet(path, name, vertices)
    if list(columns) != [PREDICTED] or columns[PREDICTED].dtype != np.int64:
        raise BundleError(f"{name}: it holds the column {PREDICTED} of type int64, and nothing else")
    found: IntArray = columns[PREDICTED]
    if len(found) != vertices:
        raise BundleError(f"{name} has {len(found):,} rows; the years have {vertices:,} labelled vertices")
    unknown = found[~np.isin(found, known)]
    if len(unknown):
        raise BundleError(f"{name}: it names the class {unknown[0]}, which the model does not know")
    return found


def _check_vertices(name: str, given: npt.NDArray[Any], expected: Expected) -> None:
    right = expected.vertices
    if np.array_equal(given, right):
        return
    missing, extra = np.setdiff1d(right, given), np.setdiff1d(given, right)
    if len(missing) or len(extra) or len(given) != len(right):
        raise BundleError(
            f"{name}, column {VERTEX}: the protocol scores {len(right):,} vertices, {len(given):,} are answered; "
            f"missing {missing[:5].tolist()}, not asked for {extra[:5].tolist()}"
        )
    at = int(np.flatnonzero(given != right)[0])
    raise BundleError(
        f"{name}, column {VERTEX}: row {at} answers for vertex {given[at]}, where the protocol has vertex "
        f"{expected.vertex(at)}; vertices stand in the order of the stream"
    )


def _check_range(name: str, column: str, values: npt.NDArray[Any], expected: Expected) -> None:
    outside = ~np.isfinite(values) | (values < 0) | (values > 1)
    _check_where(name, column, outside, values, expected, "finite and in [0, 1]")


def _check_where(
    name: str, column: str, wrong: npt.NDArray[Any], values: npt.NDArray[Any], expected: Expected, wanted: str
) -> None:
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise BundleError(
            f"{name}, column {ascii(column)}: vertex {expected.vertex(at)} has {values[at]}; it must be {wanted}"
        )


def answer_differences(
    name: str, given: dict[str, npt.NDArray[Any]], again: dict[str, npt.NDArray[Any]], tolerance: float
) -> list[str]:
    """Where the columns that both have lie further apart than the tolerance: one sentence per column.

    Args:
        name: Of the file, for messages.
        given: As they were sent.
        again: As they were made again, for the same vertices.
        tolerance: Of numbers, how far apart; of classes and decisions, the share that may differ.
    """
    found = []
    for column in (column for column in given if column in again):
        apart = _apart(given[column], again[column])
        if not apart <= tolerance:
            what = "apart" if given[column].dtype == np.float64 else "of the answers differ, as a share"
            found.append(f"{name}, column {ascii(column)}: up to {apart:.3g} {what}")
    return found


def _apart(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    """The largest distance of numbers; the share of classes and decisions that differ."""
    if not len(one):
        return 0.0
    return float(np.abs(one - other).max() if one.dtype == np.float64 else (one != other).mean())
