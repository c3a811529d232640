"""Tests between the rows of a board: what its runs kept of them, as `NAME.tests.parquet` beside `NAME.csv`.

They were made from answers, which a board does not have: whoever has the CSV alone can only compare the spread of two
rows over seeds. A test counts as long as both of its rows have the means that they had when it was made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from lgl_bench.core.types import FloatArray
from lgl_bench.grading.beside import NUMBER, TESTS_FILE, TEXT, beside, read_beside, write_beside
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.leaderboard.compare.questions import Pair, PairResult
from lgl_bench.leaderboard.stats.evidence import Evidence
from lgl_bench.leaderboard.table.names import metric_column

Tests: TypeAlias = Mapping[Pair, Mapping[str, Any]]
"""What came of pairs of rows, as `PairResult.to_json` writes it, with the means of both rows."""
_MEANS = ("a_mean", "b_mean")
_TYPES = {
    **dict.fromkeys(("a", "b", "metric", "test", "note"), TEXT),
    **dict.fromkeys((*_MEANS, *Evidence._fields, "years", "years_p"), NUMBER),
}
_SAME = 1e-6
"""How far a mean may lie from the one a test was made with."""


class BoardTests:
    """The tests beside a board."""

    def __init__(self, tests: Tests) -> None:
        self.tests = tests

    def get(self, pair: Pair, means: tuple[float, float]) -> PairResult | None:
        """What came of two rows with these means; None if it is not there, or was of other rows."""
        entry = self.tests.get(pair)
        if entry is None:
            return None
        same = all(abs(entry[name] - mean) <= _SAME for name, mean in zip(_MEANS, means, strict=True))
        try:
            found = PairResult.from_json(entry)
            return found if same and found.seeds > 0 else None
        except (TypeError, ValueError, OverflowError):  # somebody else's file under that name
            return None


Source: TypeAlias = Run | BoardTests | None
"""What the rows of a board are tested from: the answers of their run, the tests beside their table, or the table."""


def read_board_tests(board: Path) -> BoardTests | None:
    """The tests beside a board; None if there are none.

    Raises:
        DataError: The file is damaged.
    """
    table = read_beside(beside(board, TESTS_FILE), _TYPES)
    if table.empty:
        return None
    records = table.astype({"years_p": object}).where(table.notna(), None).to_dict("records")
    found: dict[Pair, Mapping[str, Any]] = {}
    for record in records:
        entry = {str(name): cell for name, cell in record.items()}
        found[_cells(entry.pop("a")), _cells(entry.pop("b")), entry.pop("metric")] = entry
    return BoardTests(found)


def write_board_tests(parts: Iterable[Tests], rows: pd.DataFrame, board: Path) -> Path | None:
    """Writes the tests between the rows of a board beside it; without any, none are left that belong to an older one.

    Args:
        parts: What the runs and boards it was made from have.
        rows: Its rows: tests of others are left out.
        board: Its CSV.

    Returns:
        The file; None if there are no tests.

    Raises:
        DataError: It cannot be written.
    """
    at = {cells: row for row, cells in enumerate(rows[list(KEY)].astype(str).itertuples(index=False, name=None))}
    means: dict[str, FloatArray] = {}
    found = []
    for (a, b, metric), entry in (item for part in parts for item in part.items()):
        column = metric_column(metric, "mean")
        if a in at and b in at and column in rows:
            if metric not in means:
                means[metric] = rows[column].to_numpy(dtype=np.float64, na_value=np.nan)
            own = {"a": json.dumps(a), "b": json.dumps(b), "metric": metric}
            found.append({**own, **entry, **dict(zip(_MEANS, means[metric][[at[a], at[b]]], strict=True))})
    table = pd.DataFrame(found, columns=list(_TYPES))
    numbers = [name for name, kind in _TYPES.items() if kind is NUMBER]
    return write_beside([table.astype(dict.fromkeys(numbers, np.float64))], beside(board, TESTS_FILE), single=False)


def _cells(text: str) -> tuple[str, ...]:
    """The cells of a method; none, which no row has, if somebody else wrote them."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return tuple(str(cell) for cell in found) if isinstance(found, list) else ()
