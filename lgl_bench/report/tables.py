"""Tables for download: CSVs that a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
from pathlib import Path

from lgl_bench.report.names import spreadsheet
from lgl_bench.report.panel import Table


def write_table(table: Table, path: Path) -> None:
    """Writes a table; nothing stands for what is undefined."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows([spreadsheet(cell) for cell in row] for row in table.rows)
