"""Boards, wherever they come from: a leaderboard CSV, or the folder of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.leaderboard.folder import folder_rows
from lgl_bench.leaderboard.reading import read_board
from lgl_bench.leaderboard.schema import KEY
from lgl_bench.leaderboard.writing import canonical


@dataclass(frozen=True, slots=True)
class Board:
    """Rows with where they come from.

    Attributes:
        name: As the user gave it.
        frame: The rows.
        folder: Of the run, where answers may be found; None for a CSV.
    """

    name: str
    frame: pd.DataFrame
    folder: Path | None


def open_board(path: Path) -> Board:
    """A board by path; rows of a run folder are made anew from its year rows."""
    path = Path(path)
    if path.is_dir():
        frame = folder_rows(path)
        if frame.empty:
            raise DataError(
                f"{path} has no rows yet: none of its fits has ended; give its 'lgl-bench run' command again"
            )
        return Board(str(path), frame, path)
    return Board(str(path), read_board(path), None)


def run_folders(below: Path = Path("runs")) -> list[Path]:
    """Run folders that have ended, one level below."""
    found = sorted(path.parent for path in below.glob("*/years.parquet"))
    if not found:
        raise UsageError(f"there is no run in {below}/; name a run folder or a leaderboard CSV")
    return found


def merge(boards: Sequence[Board]) -> pd.DataFrame:
    """All rows of several boards in one table.

    Raises:
        DataError: Two boards have a row with the same key.
    """
    frames = [board.frame for board in boards]
    whole = pd.concat(frames, ignore_index=True)
    again = whole.duplicated(list(KEY), keep=False).to_numpy()
    if again.any():
        owner = [board.name for board in boards for _ in range(len(board.frame))]
        twin = whole.loc[again].groupby(list(KEY), sort=False).head(2).index[:2]
        row = whole.loc[twin[0]]
        raise DataError(
            f"{owner[twin[0]]} and {owner[twin[1]]} both have the row {row['stream']}, {row['backbone']}, "
            f"{row['detector']}{', ' + row['threshold'] if row['threshold'] else ''}; leave one of them out"
        )
    return canonical(whole)
