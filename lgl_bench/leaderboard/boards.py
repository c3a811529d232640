"""Boards, wherever they come from: a leaderboard CSV, or the folder of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from lgl_bench.core.errors import DataError, UnknownNameError, UsageError
from lgl_bench.grading.board_delays import read_board_delays, read_run_delays
from lgl_bench.grading.board_matrix import read_board_matrix, read_run_matrix
from lgl_bench.grading.board_years import read_board_years
from lgl_bench.grading.labels import Labels
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import YEARS_FILE, read_years
from lgl_bench.leaderboard.build import Intervals, board_rows
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.leaderboard.compare.board_tests import Source, Tests, read_board_tests
from lgl_bench.leaderboard.compare.standing import Pairs, pairs_tested
from lgl_bench.leaderboard.compare.testing import Tester
from lgl_bench.leaderboard.floor import above_floor, against_floor
from lgl_bench.leaderboard.folder import folder_rows
from lgl_bench.leaderboard.intervals import draw_intervals
from lgl_bench.leaderboard.over_base import against_base
from lgl_bench.leaderboard.ranking import against_best
from lgl_bench.leaderboard.table.names import Fact
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.table.write import canonical
from lgl_bench.streams.stream import Stream


@dataclass(frozen=True, slots=True)
class OpenedBoard:
    """Rows, and where they come from.

    Attributes:
        name: As the user gave it.
        frame: The rows.
        folder: Of the run, which may hold answers; None for a CSV.
    """

    name: str
    frame: pd.DataFrame
    folder: Path | None


def open_board(path: Path) -> OpenedBoard:
    """A board by path; rows of a run folder are made anew from its year rows."""
    path = Path(path)
    if path.is_dir():
        frame = folder_rows(path)
        if frame.empty:
            raise DataError(
                f"{path} has no rows yet: none of its fits has ended; give its 'lgl-bench run' command again"
            )
        return OpenedBoard(str(path), frame, path)
    return OpenedBoard(str(path), read_board(path), None)


def only_rows(boards: Sequence[OpenedBoard], column: str, wanted: Sequence[str]) -> list[OpenedBoard]:
    """The boards with only the rows that have one of these cells, without boards that have none of them.

    Args:
        boards: What was opened.
        column: Of the key: `suite`, `budget` or `stream`.
        wanted: Its cells; if none are given, all rows are.

    Raises:
        UnknownNameError: No board has a row with such a cell.
    """
    if not wanted:
        return list(boards)
    there = sorted({str(cell) for board in boards for cell in board.frame[column]})
    for name in wanted:
        if name not in there:
            raise UnknownNameError(column, name, there, f"The sources have: {', '.join(there)}")
    found = [replace(board, frame=board.frame[board.frame[column].isin(wanted)]) for board in boards]
    return [board for board in found if len(board.frame)]


def years_of(boards: Sequence[OpenedBoard]) -> list[pd.DataFrame]:
    """The year rows of boards: those of run folders, and those beside a CSV."""
    found = [read_years(board.folder) if board.folder else read_board_years(Path(board.name)) for board in boards]
    return [years for years in found if years is not None]


def matrices_of(boards: Sequence[OpenedBoard]) -> list[pd.DataFrame]:
    """Every model on every year: the matrices of run folders, and those beside a CSV."""
    return [read_run_matrix(board.folder) if board.folder else read_board_matrix(Path(board.name)) for board in boards]


def delays_of(boards: Sequence[OpenedBoard]) -> list[pd.DataFrame]:
    """Delays of detection: those of run folders, and those beside a CSV."""
    return [read_run_delays(board.folder) if board.folder else read_board_delays(Path(board.name)) for board in boards]


def source_of(board: OpenedBoard) -> Source:
    """What the rows of a board are tested from."""
    return Run(board.folder) if board.folder is not None else read_board_tests(Path(board.name))


@dataclass(frozen=True, slots=True)
class BoardPool:
    """Several boards as one table, and what its rows are tested with.

    Attributes:
        frame: All rows, with `above_floor` filled and a column `board`, the position of the board each is from.
        runs: What the rows of each board are tested from.
        tester: What asks the runs' answers.
    """

    frame: pd.DataFrame
    runs: list[Source]
    tester: Tester

    def tests(self) -> list[Tests]:
        """What is known of pairs of rows within each board."""
        pairs_tested(self.frame, against_base(self.frame), self.runs, self.tester)
        self.tester.keep()
        known = [self.tester.kept(run) if isinstance(run, Run) else run for run in self.runs]
        return [tests.tests for tests in known if tests is not None]


def pool(boards: Sequence[OpenedBoard], tester: Tester | None = None) -> BoardPool:
    """Puts boards together; what is tested within a run folder is kept there.

    Raises:
        DataError: Two boards have a row with the same key.
    """
    tester = tester or Tester()
    runs = [source_of(board) for board in boards]
    owner = [at for at, board in enumerate(boards) for _ in range(len(board.frame))]
    frame = settled(merge(boards).assign(board=owner), runs, tester)
    tester.keep()
    return BoardPool(frame, runs, tester)


def settled(frame: pd.DataFrame, runs: Sequence[Source], tester: Tester) -> pd.DataFrame:
    """The rows with `above_floor` filled."""
    floor = against_floor(frame)
    if len(floor.b):
        # The tests against the best are asked for next: together, the answers of each method are drawn once.
        both = zip(against_best(frame), floor, strict=True)
        pairs_tested(frame, Pairs(*(np.concatenate(parts) for parts in both)), runs, tester)
    return frame.assign(**{Fact.ABOVE_FLOOR: above_floor(frame, runs, tester)})


def graded_run(
    run: Run, provenance: Mapping[str, str], streams: Mapping[tuple[str, str], Stream], *, keep: bool
) -> tuple[pd.DataFrame, Intervals]:
    """The rows of a run, with intervals drawn from its answers and `above_floor` filled, and the intervals.

    Args:
        run: With its year rows and answers.
        provenance: When and with what the rows were made.
        streams: By name and checksum, for their labels.
        keep: Whether its tests are kept in its folder, whose `years.parquet` must then hold the run's year rows.
    """
    labels = {place: Labels(stream) for place, stream in streams.items()}
    tester = Tester(labels=labels, kept=keep)
    drawn = draw_intervals(run, labels, tester.draws, tester.seed, tester.remember)
    frame = settled(board_rows(run.years, provenance, drawn).assign(board=0), [run], tester)
    pairs_tested(frame, against_best(frame), [run], tester)
    if keep:  # the page asks for it, and what was drawn is still in memory
        pairs_tested(frame, against_base(frame), [run], tester)
    tester.keep()
    return frame.drop(columns="board"), drawn


def run_folders(below: Path = Path("runs")) -> list[Path]:
    """Run folders that have ended, one level below."""
    found = sorted(path.parent for path in below.glob(f"*/{YEARS_FILE}"))
    if not found:
        raise UsageError(f"there is no run in {below}/; name a run folder or a leaderboard CSV")
    return found


def merge(boards: Sequence[OpenedBoard]) -> pd.DataFrame:
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
            f"{owner[twin[0]]} and {owner[twin[1]]} both have the row {row['stream']}, "
            f"{row['strategy'] + ', ' if row['strategy'] else ''}{row['backbone']}, "
            f"{row['detector']}{', ' + row['threshold'] if row['threshold'] else ''}; leave one of them out"
        )
    return canonical(whole)
