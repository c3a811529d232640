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
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.build import Intervals, RunFacts, board_rows
from lgl_bench.leaderboard.seeds import METHOD_KEYS
from lgl_bench.runs.store import RunStore

INTERVALS = "intervals.json"
PROVENANCE = ("submitter", "created_at", "lgl_bench", "torch", "dgl", "numpy", "python", "git_commit")


def folder_rows(folder: Path) -> pd.DataFrame:
    """The leaderboard of a run folder."""
    facts = read_facts(folder)
    return board_rows(read_years(folder), facts, read_intervals(folder))


def read_years(folder: Path) -> pd.DataFrame:
    """The year rows of a run folder."""
    path = Path(folder) / "years.parquet"
    if not path.is_file():
        raise DataError(f"{path} is missing: the run has not ended; give its 'lgl-bench run' command again")
    try:
        years: pd.DataFrame = pq.read_table(path).to_pandas()
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read: {error}; remove it and give the run's command again") from error
    wanted = ("key", *METHOD_KEYS, "seed", "time", "fold", "role", "status")
    missing = [name for name in wanted if len(years) and name not in years]
    if missing:
        raise DataError(f"{path} has no column '{missing[0]}'; remove it and give the run's command again")
    return years


def read_facts(folder: Path) -> RunFacts:
    """What a run folder says of all its rows."""
    plan = RunStore(folder).plan()
    try:
        suite = plan["suite"]
        columns = {
            "suite": suite["name"],
            "suite_version": suite["version"],
            "budget": plan["budget"],
            "budget_version": plan["budget_version"],
            "select": suite["select"],
        }
        return RunFacts(columns, plan["streams"], _provenance(Path(folder), plan))
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{folder}/plan.json lacks {error}; give the run's command again, which writes it anew"
        ) from error


def _provenance(folder: Path, plan: dict[str, Any]) -> dict[str, str]:
    """When and with what the run was made: the run's own table says it, and building rows again does not change it."""
    noted = {"lgl_bench": str(plan.get("lgl_bench", "")), **plan.get("provenance", {})}
    path = folder / "leaderboard.csv"
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            first = next(csv.DictReader(file), {})
        noted |= {name: first[name] for name in PROVENANCE if first.get(name)}
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
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads((Path(folder) / INTERVALS).read_text(encoding="utf-8"))
        if kept["years"] == years_checksum(folder) and kept["columns"] == list(METHOD_KEYS):
            for row in kept["rows"]:
                ends = {name: (float(lo), float(hi)) for name, (lo, hi) in row["intervals"].items()}
                found[tuple(row["method"])] = ends
    return found


def years_checksum(folder: Path) -> str:
    """The sha256 of the year rows of a run folder: what is kept beside them belongs to these."""
    return hashlib.sha256((Path(folder) / "years.parquet").read_bytes()).hexdigest()
