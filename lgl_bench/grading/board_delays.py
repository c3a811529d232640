"""Delays of detection, a row per method, seed and class: of a run folder, and as `NAME.delays.parquet` beside a board.

A run keeps them in `classes.parquet`, which `emerging.py` makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from lgl_bench.grading.beside import (
    DELAYS_FILE,
    NUMBER,
    TEXT,
    beside,
    read_beside,
    read_of_run,
    rows_of_board,
    write_beside,
)
from lgl_bench.grading.row_key import KEY

CLASSES_FILE = "classes.parquet"
MEASURED = ("seed", "class", "born", "detection_delay", "false_alarm_rate")
"""Beside the key: a class that emerges, and the year of its birth; no delay if it is not detected while it is new."""
_TYPES = {**dict.fromkeys(KEY, TEXT), **dict.fromkeys(MEASURED, NUMBER)}


def read_run_delays(folder: Path) -> pd.DataFrame:
    """The delays of a run; none if there are none, or they cannot be read: the run's command makes them again."""
    found = read_of_run(Path(folder) / CLASSES_FILE, _TYPES)
    return found.astype({"detection_delay": float, "false_alarm_rate": float, **dict.fromkeys(KEY, str)})


def delays_of_row(table: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """The rows of a table with this key."""
    same = pd.Series(True, index=table.index)
    for name, cell in zip(KEY, key, strict=True) if len(table) else ():
        same &= table[name] == cell
    return table[same]


def read_board_delays(board: Path) -> pd.DataFrame:
    """The delays beside a board; none if there are none.

    Raises:
        DataError: The file is damaged.
    """
    return read_beside(beside(board, DELAYS_FILE), _TYPES)


def write_board_delays(parts: Iterable[pd.DataFrame], rows: pd.DataFrame, board: Path) -> Path | None:
    """Writes the delays of the rows of a board beside it; without any, none are left that belong to an older one.

    Raises:
        DataError: It cannot be written.
    """
    return write_beside([rows_of_board(part, rows) for part in parts if len(part)], beside(board, DELAYS_FILE))
