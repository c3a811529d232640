"""The rows of a run folder, made anew from its plan, its year rows and the intervals it keeps.

A run draws intervals once, at its end, into `OUT/intervals.json`, with the sha256 of the year rows they belong to.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import DataError, printable
from lgl_bench.leaderboard.build import Intervals, board_rows
from lgl_bench.leaderboard.seeds import METHOD_KEYS
from lgl_bench.runs.description import read_plan
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.year_table import read_year_table

INTERVALS = "intervals.json"
PROVENANCE = ("submitter", "created_at", "lgl_bench", "torch", "dgl", "numpy", "python", "git_commit")


def folder_rows(folder: Path) -> pd.DataFrame:
    """The leaderboard of a run folder."""
    provenance = read_provenance(folder)
    return board_rows(read_years(folder), provenance, read_intervals(folder))


def read_years(folder: Path) -> pd.DataFrame:
    """The year rows of a run folder."""
    path = Path(folder) / "years.parquet"
    if not path.is_file():
        raise DataError(f"{path} is missing: the run has not ended; give its 'lgl-bench run' command again")
    return read_year_table(path)


def read_provenance(folder: Path) -> dict[str, str]:
    """When and with what a run was made: its own table says it, and building rows again does not change it."""
    plan = read_plan(folder)
    noted = {"lgl_bench": plan.lgl_bench, **plan.provenance}
    path = Path(folder) / "leaderboard.csv"
    if path.is_file():
        # A table that cannot be read tells nothing; the plan does.
        with contextlib.suppress(OSError, ValueError, csv.Error), path.open(encoding="utf-8", newline="") as file:
            first: dict[str, Any] = next(csv.DictReader(file), {})
            noted |= {name: printable(first[name]) for name in PROVENANCE if first.get(name)}
    return {name: noted.get(name, "") for name in PROVENANCE}


def write_intervals(folder: Path, drawn: Intervals) -> None:
    """Keeps the intervals in a run folder, for the year rows that are there now."""
    rows = [{"method": list(cells), "intervals": ends} for cells, ends in drawn.items()]
    text = json.dumps({"years": years_checksum(folder), "columns": list(METHOD_KEYS), "rows": rows}, allow_nan=False)
    RunStore(folder).write_text(INTERVALS, text + "\n")


def read_intervals(folder: Path) -> Intervals:
    """The intervals a run folder keeps; none where its year rows are others by now."""
    found: dict[tuple[str, ...], Mapping[str, tuple[float, float]]] = {}
    # The file is made from the answers: whatever is wrong with it, the run's command makes it again.
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        kept = read_kept(folder, INTERVALS)
        if kept["years"] == years_checksum(folder) and kept["columns"] == list(METHOD_KEYS):
            for row in kept["rows"]:
                ends = {str(name): (float(lo), float(hi)) for name, (lo, hi) in row["intervals"].items()}
                if not all(lo <= hi for lo, hi in ends.values()):
                    return {}
                found[tuple(str(cell) for cell in row["method"])] = ends
        return found
    return {}


def read_kept(folder: Path, name: str) -> Any:
    """What a run folder keeps of what was drawn or tested; whatever may be wrong with it is raised.

    Raises:
        OSError: There is no such file.
        ValueError: It is no JSON.
        RecursionError: It is nested without end.
    """
    path = Path(folder) / name
    if not path.is_file():  # a pipe or a device would never end
        raise FileNotFoundError(path)
    return json.loads(path.read_bytes())


def years_checksum(folder: Path) -> str:
    """The sha256 of the year rows of a run folder: what is kept beside them belongs to these."""
    return hashlib.sha256((Path(folder) / "years.parquet").read_bytes()).hexdigest()
