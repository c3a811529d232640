"""Year rows beside a board: `NAME.years.parquet` beside `NAME.csv`, so that whoever has the two sees every curve.

It holds what curves are drawn from, and no more: the key of each row, seeds, years, and a few grades in single
precision. The schema is that of `year_table.py`; names of fits are left out, as there is no store to find them in.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError
from lgl_bench.core.files import clear_leftovers, writing
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import YEAR_KEY, YEARS_FILE, read_year_file

CURVES = ("auroc", "accuracy", "macro_f1")
"""The grades that are drawn over the years."""
_KEPT = ("key", "role", "status", "n_new", "n_scored", "fit_seconds", "peak_memory_mb")
_LEVEL = 19


def years_beside(board: Path) -> Path:
    """Where the year rows of a board are.

    >>> years_beside(Path("leaderboard/static.csv")).name
    'static.years.parquet'
    """
    board = Path(board)
    return board.with_name(f"{board.name.removesuffix('.csv')}.{YEARS_FILE}")


def read_board_years(board: Path) -> pd.DataFrame | None:
    """The year rows beside a board; None if there are none."""
    path = years_beside(board)
    if not path.is_file():
        return None
    found = read_year_file(path, "remove it, or make the board anew from its run folders")
    numbers = found.select_dtypes("float32").columns
    return found.astype(dict.fromkeys(numbers, np.float64))


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
    path = years_beside(board)
    found = [_kept(part, rows) for part in parts]
    years = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
    try:
        clear_leftovers(path)
        if not len(years):
            path.unlink(missing_ok=True)
            return None
        with writing(path) as partial:
            table = pa.Table.from_pandas(years, preserve_index=False)
            # Grades are all different: a dictionary of them would be larger than they are.
            coded = [str(name) for name in years if not pd.api.types.is_float_dtype(years[name])]
            pq.write_table(table, partial, compression="zstd", compression_level=_LEVEL, use_dictionary=coded)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def _kept(years: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    names = [*YEAR_KEY, *_KEPT, *CURVES]
    found = years[[name for name in names if name in years]].copy()
    texts = found[list(KEY)].astype(str)
    there = set(rows[list(KEY)].astype(str).itertuples(index=False, name=None))
    found = found[[cells in there for cells in texts.itertuples(index=False, name=None)]]
    for name in found.select_dtypes("float").columns:
        found[name] = found[name].astype(np.float32)
    return found.assign(key="")
