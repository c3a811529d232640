"""Every model on every year: the matrices of a run folder, and those beside a board as `NAME.matrix.parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.grading.beside import MATRIX_FILE, NUMBER, TEXT, beside, read_beside, read_of_run, write_beside

MODEL = ("suite", "budget", "stream", "label_delay", "strategy", "backbone", "head")
"""The columns of a row's key that say which matrix is that of its models."""
_CELLS = ("seed", "trained_up_to", "evaluated_on", "accuracy")
_TYPES = {**dict.fromkeys(MODEL, TEXT), **dict.fromkeys(("label_delay", *_CELLS), NUMBER)}


def read_run_matrix(folder: Path) -> pd.DataFrame:
    """The matrices of a run; none if there are none, or they cannot be read: the run's command makes them again."""
    return read_of_run(Path(folder) / MATRIX_FILE, _TYPES)


def read_board_matrix(board: Path) -> pd.DataFrame:
    """The matrices beside a board; none if there are none.

    Raises:
        DataError: The file is damaged.
    """
    return read_beside(beside(board, MATRIX_FILE), _TYPES)


def write_board_matrix(parts: Iterable[pd.DataFrame], rows: pd.DataFrame, board: Path) -> Path | None:
    """Writes the matrices of the rows of a board beside it; without any, none are left that belong to an older one.

    Args:
        parts: Matrices of the runs and boards it was made from.
        rows: Its rows: matrices of others are left out.
        board: Its CSV.

    Returns:
        The file; None if there are no matrices.

    Raises:
        DataError: It cannot be written.
    """
    models = rows[list(MODEL)].astype(str).drop_duplicates().to_dict("records")
    found = [matrix_of(table, {str(name): cell for name, cell in model.items()}) for table in parts for model in models]
    return write_beside(found, beside(board, MATRIX_FILE))


def matrix_of(table: pd.DataFrame, row: Mapping[str, object]) -> pd.DataFrame:
    """The cells of the matrices of a row's models, one per seed and pair of years; none if there are none."""
    if not set(_TYPES) <= set(table):
        return pd.DataFrame()
    # Matrices of older runs name the backbone without swept values.
    own = str(row["backbone"])
    wanted = {**row, "backbone": own if (table["backbone"] == own).any() else plugin_name(own)}
    same = pd.Series(True, index=table.index)
    for name in MODEL:
        same &= table[name].astype(str) == str(wanted[name])
    return table.loc[same, list(_TYPES)]
