"""Printing: aligned tables for people, JSON for machines."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click


def print_json(value: Any) -> None:
    """One JSON document on standard output; what cannot be written there as it is, is escaped."""
    document = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    try:
        document.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        document = json.dumps(value, indent=1, allow_nan=False)
    click.echo(document)


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """An aligned table; numbers to the right, words to the left, nothing for what is undefined."""
    cells = [[text(value) for value in row] for row in rows]
    widths = [max(len(name), *(len(row[i]) for row in cells), 0) for i, name in enumerate(header)]
    right = [all(isinstance(row[i], int | float | None) for row in rows) for i in range(len(header))]
    for row in [list(header), *cells]:
        parts = (cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True))
        click.echo("  ".join(parts).rstrip())


def print_board(frame: Any, metrics: Sequence[str], years: Any = None) -> None:
    """Ranked leaderboard rows with a sparkline over the years, no wider than the terminal; whole in a pipe."""
    from lgl_bench.leaderboard import text_tables as formats
    from lgl_bench.leaderboard.budget_notes import budget_notes
    from lgl_bench.report.terminal import board_table

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100_000
    click.echo(board_table(frame, *formats.cells(frame, metrics), years, width))
    click.echo(f"\n{formats.LEGEND}")
    columns = (frame[name] for name in ("budget", "budget_version", "stream", "backbone"))
    for note in budget_notes(zip(*columns, strict=True)):
        click.echo(note)


def text(value: Any) -> str:
    """A cell: thousands with commas, shares with three digits, a dash for what is undefined."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000:
        return f"{value:,}"
    return str(value)
