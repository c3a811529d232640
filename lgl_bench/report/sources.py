"""What a report is made from: run folders and leaderboard CSVs, read so that one odd cell does not end the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.leaderboard.schema import COMPARABLE, KEY
from lgl_bench.leaderboard.seeds import METHOD_KEYS
from lgl_bench.report.metrics import METRICS
from lgl_bench.runs.description import Description, read_description
from lgl_bench.runs.year_table import read_year_table

PLACE = tuple(name for name in KEY if name == "stream" or name in COMPARABLE)
METHOD = tuple(name for name in KEY if name not in PLACE)
FACTS = (
    "above_floor",
    "chosen",
    "trust",
    "submitter",
    "created_at",
    "lgl_bench",
    "torch",
    "dgl",
    "python",
    "device",
    "git_commit",
)
NUMBERS = ("failed_years", "failed_seeds", "n_new", "fit_seconds", "peak_memory_mb", "tuning_trials")
_NEEDED = ("stream", "backbone", "detector")


@dataclass(frozen=True, slots=True)
class Source:
    """One input.

    Attributes:
        name: As the user gave it.
        board: Leaderboard rows, with every column there may be; text columns hold text, numbers hold numbers.
        years: Year rows; empty where there are none.
        plan: What was asked for last; None for a CSV.
        folder: Of the run; None for a CSV.
        notes: What the reader of the report should know about it.
    """

    name: str
    board: pd.DataFrame
    years: pd.DataFrame
    plan: Description | None = None
    folder: Path | None = None
    notes: tuple[str, ...] = ()


def read_sources(paths: Iterable[Path]) -> list[Source]:
    """Reads every input; rows that an earlier input has already are left out, and a note says so."""
    found: list[Source] = []
    seen: set[tuple[Any, ...]] = set()
    for path in paths:
        source = _folder(Path(path)) if Path(path).is_dir() else _file(Path(path))
        keys = list(source.board[[*PLACE, *METHOD]].itertuples(index=False, name=None))
        fresh = [key not in seen for key in keys]
        seen.update(keys)
        if not all(fresh):
            note = f"{source.name}: {len(fresh) - sum(fresh)} rows are in another input too and are shown once"
            source = Source(
                source.name,
                source.board[fresh].reset_index(drop=True),
                source.years,
                source.plan,
                source.folder,
                (*source.notes, note),
            )
        found.append(source)
    if not found:
        raise UsageError("nothing to report on; name a run folder or a leaderboard CSV")
    return found


def _folder(folder: Path) -> Source:
    plan_path, board_path, years_path = (folder / name for name in ("plan.json", "leaderboard.csv", "years.parquet"))
    if not plan_path.is_file() and not board_path.is_file():
        raise DataError(f"{folder} holds neither plan.json nor leaderboard.csv; name the folder 'lgl-bench run' wrote")
    plan = read_description(plan_path) if plan_path.is_file() else None
    notes = []
    if board_path.is_file():
        board = read_board(board_path)
    else:
        board = _complete(pd.DataFrame())
        notes.append(f"{folder.name}: the run has not ended, there is no leaderboard.csv yet")
    return Source(str(folder), board, _years(years_path), plan, folder, tuple(notes))


def _file(path: Path) -> Source:
    if not path.is_file():
        raise DataError(f"{path} does not exist; name a run folder or a leaderboard CSV")
    return Source(str(path), read_board(path), pd.DataFrame())


def read_board(path: Path) -> pd.DataFrame:
    """A leaderboard CSV with every column there may be; metrics it lacks are undefined."""
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except pd.errors.EmptyDataError:
        frame = pd.DataFrame()
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read as a CSV: {error}") from error
    missing = [name for name in _NEEDED if len(frame) and name not in frame]
    if missing:
        raise DataError(f"{path} has no column '{missing[0]}'; it is no leaderboard CSV")
    return _complete(frame, str(path))


def _complete(frame: pd.DataFrame, path: str = "") -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for name in (*PLACE, *METHOD, *FACTS):
        columns[name] = frame[name].astype(str) if name in frame else pd.Series("", index=frame.index, dtype=object)
    numbers = [
        *NUMBERS,
        *(f"{m}_{part}" for m in METRICS for part in ("mean", "std", "lo", "hi", "n_seeds", "n_years")),
    ]
    for name in numbers:
        columns[name] = _numbers(frame[name], name, path) if name in frame else float("nan")
    for metric in METRICS:
        name = f"{metric}_reason"
        columns[name] = frame[name].astype(str) if name in frame else "not in this table"
    return pd.DataFrame(columns, index=frame.index)


def _numbers(column: pd.Series[Any], name: str, path: str) -> pd.Series[Any]:
    found = pd.to_numeric(column.where(column != "", None), errors="coerce").astype(float)
    bad = found.isna() & (column != "") & (column.str.lower() != "nan")
    if bad.any():
        line = int(bad.to_numpy().argmax()) + 2
        raise DataError(f"{path}, line {line}, column {name}: '{column[bad].iloc[0][:80]}' is no number")
    return found.where(found.abs() != float("inf"))


def _years(path: Path) -> pd.DataFrame:
    if not path.is_file():
        return pd.DataFrame()
    years = read_year_table(path)
    if not len(years):
        return pd.DataFrame()
    for name in (*METHOD_KEYS, "fold"):
        years[name] = years[name].astype(object).where(years[name].notna(), "").astype(str)
    return years
