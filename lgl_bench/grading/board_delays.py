"""Delays of detection as a table, and as `NAME.delays.parquet` beside a board: a row per method, seed and class.

Its columns are called as those of `classes.parquet`, which `emerging.py` makes; the cells of the key are texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from lgl_bench.grading.beside import DELAYS_FILE, NUMBER, TEXT, beside, read_beside, rows_of_board, write_beside
from lgl_bench.grading.row_key import KEY

MEASURED = ("seed", "class", "born", "detection_delay", "false_alarm_rate")
"""Beside the key: a class that emerges, and the year of its birth; no delay if it is not detected while it is new."""


def delay_table(key: Sequence[str], rows: Iterable[tuple[int, int, int, float | None, float | None]]) -> pd.DataFrame:
    """The delays of one row of a board.

    Args:
        key: Its cells `KEY`, as texts.
        rows: What `MEASURED` names.
    """
    found = pd.DataFrame(list(rows), columns=list(MEASURED))
    found = found.astype({"detection_delay": float, "false_alarm_rate": float})
    for at, (name, cell) in enumerate(zip(KEY, key, strict=True)):
        found.insert(at, name, cell)
    return found


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
    types = {**dict.fromkeys(KEY, TEXT), **dict.fromkeys(MEASURED, NUMBER)}
    return read_beside(beside(board, DELAYS_FILE), types)


def write_board_delays(parts: Iterable[pd.DataFrame], rows: pd.DataFrame, board: Path) -> Path | None:
    """Writes the delays of the rows of a board beside it; without any, none are left that belong to an older one.

    Raises:
        DataError: It cannot be written.
    """
    return write_beside([rows_of_board(part, rows) for part in parts if len(part)], beside(board, DELAYS_FILE))
