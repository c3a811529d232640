"""The rows of a run folder, made anew from its plan and its year rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.build import RunFacts, board_rows
from lgl_bench.leaderboard.seeds import METHOD_KEYS
from lgl_bench.runs.store import RunStore

PROVENANCE = ("submitter", "created_at", "lgl_bench", "torch", "dgl", "numpy", "python", "git_commit")


def folder_rows(folder: Path) -> pd.DataFrame:
    """The leaderboard of a run folder."""
    facts = read_facts(folder)
    return board_rows(read_years(folder), facts)


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
