"""Rows of boards for printed cells, made in a moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.leaderboard.table.schema import HEADLINE
from lgl_bench.leaderboard.table.write import canonical
from lgl_bench.report.parity.printed import METRICS, printed_cells

ODIN = ("cora", "60-20-20", "gcn", "odin")
GDOC = ("cora", "60-20-20", "gcn", "gdoc")


def board_row(
    place: tuple[str, str, str, str], figures: dict[str, float], seeds: int = 5, **changes: Any
) -> dict[str, Any]:
    """A row with the key of a printed cell.

    Args:
        place: Stream, split, backbone and detector of the cell.
        figures: By metric of the paper, the mean; every deviation is 0.01.
        seeds: How many.
        changes: Other columns.
    """
    (one,) = [one for one in printed_cells() if one.place == place]
    row: dict[str, Any] = {
        **one.key,
        **{"suite": "static", "suite_version": 2, "stream_checksum": "c" * 64, "restart": ""},
        **{"budget": "paper", "budget_version": 2, "trust": "self-reported", "tuning_trials": 0},
        **{"git_commit": "fedcba9876", "lgl_bench": "0.1.0", "torch": "2", "dgl": "1", "python": "3.11"},
    }
    means = {METRICS[name]: mean for name, mean in figures.items()}
    for metric in HEADLINE:
        row[metric_column(metric, "mean")] = means.get(metric)
        row[metric_column(metric, "std")] = 0.01 if metric in means and seeds > 1 else None
        row[metric_column(metric, "n_seeds")] = seeds if metric in means else 0
        row[metric_column(metric, "reason")] = "" if metric in means else "not computed"
    return {**row, **changes}


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    """A leaderboard CSV with these rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    canonical(pd.DataFrame(rows)).to_csv(path, index=False)
    return path
