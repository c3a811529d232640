"""Tables for download: CSVs that a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lgl_bench.leaderboard.table.names import Fact
from lgl_bench.report.data.metrics import METRICS
from lgl_bench.report.data.names import spreadsheet
from lgl_bench.report.data.rows import ShownRow

# What a spreadsheet's reader finds under the name of a metric, and where it is in `Figures`.
_PARTS = {
    **{name: name for name in ("mean", "std", "lo", "hi")},
    **{"seeds": "n_seeds", "years": "n_years", "reason": "reason"},
}


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers behind a figure, as they are offered for download."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def write_table(table: Table, path: Path) -> None:
    """Writes a table; what is undefined is empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows([spreadsheet(cell) for cell in row] for row in table.rows)


def rows_table(rows: Sequence[ShownRow]) -> Table:
    """All rows of a report with their ranks, as its pages show them."""
    columns = ["place", "rank", "standing", "unranked_reason", Fact.ABOVE_FLOOR]
    columns += ["strategy", "backbone", "head", "detector", "threshold", "preset"]
    columns += [f"{metric}_{part}" for metric in METRICS for part in _PARTS]
    columns += [Fact.FIT_SECONDS, Fact.PEAK_MEMORY_MB, Fact.MEMORY_VERTICES, Fact.MEMORY_MB, Fact.TRUST, Fact.CHOSEN]
    found = []
    for row in rows:
        cells: list[object] = [row.place.label, row.rank, row.standing, row.unranked_reason, row.above_floor]
        cells += [row.strategy, row.backbone, row.head, row.detector, row.threshold, row.preset]
        cells += [_rounded(getattr(row.figures[metric], name)) for metric in METRICS for name in _PARTS.values()]
        cells += [_rounded(row.fit_seconds), _rounded(row.peak_memory_mb), row.memory_vertices, _rounded(row.memory_mb)]
        cells += [row.facts[Fact.TRUST], row.chosen]
        found.append(cells)
    return Table(columns, found)


def _rounded(value: object) -> object:
    return float(f"{value:.6g}") if isinstance(value, float) else value
