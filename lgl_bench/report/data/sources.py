"""What a report is made from: run folders and leaderboard CSVs, read so that one odd cell does not end the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.grading.board_delays import read_board_delays, read_run_delays
from lgl_bench.grading.board_matrix import read_board_matrix, read_run_matrix
from lgl_bench.grading.board_years import read_board_years
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import YEARS_FILE, read_years
from lgl_bench.leaderboard.compare.board_tests import BoardTests, read_board_tests
from lgl_bench.leaderboard.table.names import BOARD_FILE
from lgl_bench.leaderboard.table.schema import PLACE, VARIANT
from lgl_bench.leaderboard.table.text import completed, read_tolerant
from lgl_bench.plans.plan_file import Description, read_description
from lgl_bench.report.data.metrics import METRICS


@dataclass(frozen=True, slots=True)
class ReportInput:
    """One input.

    Attributes:
        name: As the user gave it.
        board: Leaderboard rows, as `read_tolerant` returns them.
        years: Year rows, of the run folder or beside the CSV; empty if there are none.
        plan: What was asked for last; None for a CSV.
        folder: Of the run; None for a CSV.
        notes: What the reader of the report should know about it.
        matrix: Every model on every year, of the run folder or beside the CSV; empty if there is none.
        delays: Delays of detection, of the run folder or beside the CSV; empty if there are none.
        tests: Between rows, beside the CSV; None for a run folder, whose answers are asked.
    """

    name: str
    board: pd.DataFrame
    years: pd.DataFrame
    plan: Description | None = None
    folder: Path | None = None
    notes: tuple[str, ...] = ()
    matrix: pd.DataFrame = field(default_factory=pd.DataFrame)
    delays: pd.DataFrame = field(default_factory=pd.DataFrame)
    tests: BoardTests | None = None


def read_sources(paths: Iterable[Path]) -> list[ReportInput]:
    """Reads every input; rows that an earlier input has already are left out, and a note says so."""
    found: list[ReportInput] = []
    seen: set[tuple[Any, ...]] = set()
    for path in paths:
        source = _folder(Path(path)) if Path(path).is_dir() else _file(Path(path))
        keys = list(source.board[[*PLACE, *VARIANT]].itertuples(index=False, name=None))
        fresh = [key not in seen for key in keys]
        seen.update(keys)
        if not all(fresh):
            note = f"{source.name}: {len(fresh) - sum(fresh)} rows are in another input too and are shown once"
            board = source.board[fresh].reset_index(drop=True)
            source = replace(source, board=board, notes=(*source.notes, note))
        found.append(source)
    if not found:
        raise UsageError("nothing to report on; name a run folder or a leaderboard CSV")
    return found


def _folder(folder: Path) -> ReportInput:
    plan_path, board_path = (folder / name for name in ("plan.json", BOARD_FILE))
    if not plan_path.is_file() and not board_path.is_file():
        raise DataError(f"{folder} holds neither plan.json nor {BOARD_FILE}; name the folder 'lgl-bench run' wrote")
    plan = read_description(plan_path) if plan_path.is_file() else None
    notes = []
    if board_path.is_file():
        board = read_tolerant(board_path, METRICS)
    else:
        board = completed(pd.DataFrame(), METRICS)
        notes.append(f"{folder.name}: the run has not ended, there is no {BOARD_FILE} yet")
    drawn = read_run_matrix(folder), read_run_delays(folder)
    return ReportInput(str(folder), board, _years(folder), plan, folder, tuple(notes), *drawn)


def _file(path: Path) -> ReportInput:
    if not path.is_file():
        raise DataError(f"{path} does not exist; name a run folder or a leaderboard CSV")
    beside = read_board_years(path)
    years = pd.DataFrame() if beside is None else _texts(beside)
    board = read_tolerant(path, METRICS)
    drawn = read_board_matrix(path), read_board_delays(path), read_board_tests(path)
    return ReportInput(str(path), board, years, None, None, (), *drawn)


def _years(folder: Path) -> pd.DataFrame:
    return _texts(read_years(folder)) if (folder / YEARS_FILE).is_file() else pd.DataFrame()


def _texts(years: pd.DataFrame) -> pd.DataFrame:
    """Year rows whose cells of the key are texts, as those of a board are."""
    if not len(years):
        return pd.DataFrame()
    for name in (*KEY, "fold"):
        years[name] = years[name].astype(object).where(years[name].notna(), "").astype(str)
    return years
