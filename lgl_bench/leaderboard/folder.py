"""The rows of a run folder, made anew from its plan, its year rows and the intervals it keeps.

A run draws intervals once, at its end, into `OUT/intervals.json`, with the sha256 of the year rows they belong to.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import printable
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import read_years, years_checksum
from lgl_bench.leaderboard.build import Intervals, board_rows
from lgl_bench.leaderboard.table.names import BOARD_FILE, MADE_WITH, Fact
from lgl_bench.leaderboard.table.text import first_cells
from lgl_bench.plans.plan_file import read_plan
from lgl_bench.runs.store import RunStore

INTERVALS = "intervals.json"
PROVENANCE = (Fact.SUBMITTER, *MADE_WITH)


def folder_rows(folder: Path) -> pd.DataFrame:
    """The leaderboard of a run folder."""
    provenance = read_provenance(folder)
    return board_rows(read_years(folder), provenance, read_intervals(folder))


def read_provenance(folder: Path) -> dict[str, str]:
    """When and with what a run was made: its own table says it, and building rows again does not change it."""
    plan = read_plan(folder)
    found = {Fact.LGL_BENCH: plan.lgl_bench, **plan.provenance}
    path = Path(folder) / BOARD_FILE
    if path.is_file():
        # A table that cannot be read says nothing; the plan does.
        with contextlib.suppress(OSError, ValueError):
            first = first_cells(path)
            found |= {name: printable(first[name]) for name in PROVENANCE if first.get(name)}
    return {name: found.get(name, "") for name in PROVENANCE}


def write_intervals(folder: Path, drawn: Intervals) -> None:
    """Keeps the intervals in a run folder, for the year rows that are there now."""
    rows = [{"method": list(cells), "intervals": ends} for cells, ends in drawn.items()]
    text = json.dumps({"years": years_checksum(folder), "columns": list(KEY), "rows": rows}, allow_nan=False)
    RunStore(folder).write_text(INTERVALS, text + "\n")


def read_intervals(folder: Path) -> Intervals:
    """The intervals a run folder keeps; none if its year rows have changed since."""
    found: dict[tuple[str, ...], Mapping[str, tuple[float, float]]] = {}
    # The file is made from the answers: whatever is wrong with it, the run's command makes it again.
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        kept = read_kept(folder, INTERVALS)
        if kept["years"] == years_checksum(folder) and kept["columns"] == list(KEY):
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
