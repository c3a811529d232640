"""Year rows beside a board: `NAME.years.parquet` beside `NAME.csv`, so that whoever has the two sees every curve.

It holds what curves are drawn from, and no more: the key of each row, seeds, years, and a few grades in single
precision. The schema is that of `year_table.py`; names of fits are left out, as there is no store to find them in.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from lgl_bench.grading.beside import REMEDY, beside, doubles, rows_of_board, write_beside
from lgl_bench.grading.year_table import YEAR_KEY, YEARS_FILE, read_year_file

CURVES = ("auroc", "accuracy", "macro_f1")
"""The grades that are drawn over the years."""
_KEPT = ("key", "role", "status", "n_new", "n_scored", "fit_seconds", "peak_memory_mb")


def years_beside(board: Path) -> Path:
    """Where the year rows of a board are.

    >>> years_beside(Path("leaderboard/static.csv")).name
    'static.years.parquet'
    """
    return beside(board, YEARS_FILE)


def read_board_years(board: Path) -> pd.DataFrame | None:
    """The year rows beside a board; None if there are none."""
    path = years_beside(board)
    return doubles(read_year_file(path, REMEDY)) if path.is_file() else None


def write_board_years(parts: Iterable[pd.DataFrame], rows: pd.DataFrame, board: Path) -> Path | None:
    """Writes the year rows of a board beside it; without any, none are left there that belong to an older one.

    Args:
        parts: Year rows of the runs and boards it was made from.
        rows: Its rows: year rows of others are left out.
        board: Its CSV.

    Returns:
        The file; None if there are no year rows.

    Raises:
        DataError: It cannot be written.
    """
    names = [*YEAR_KEY, *_KEPT, *CURVES]
    kept = [rows_of_board(years[[name for name in names if name in years]], rows).assign(key="") for years in parts]
    return write_beside(kept, years_beside(board))
