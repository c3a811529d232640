"""Printing: aligned tables for people, JSON for machines."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lgl_bench.report.terminal.board import View

ROWS_IN_TERMINAL = 10


def print_json(value: Any) -> None:
    """One JSON document on standard output; what cannot be written there as it is, is escaped."""
    document = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    try:
        document.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        document = json.dumps(value, indent=1, allow_nan=False)
    click.echo(document)


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """An aligned table that fits the terminal; numbers to the right, words to the left, a dash for the undefined."""
    from lgl_bench.report.terminal.layout import Column, laid_out

    columns = []
    for at, name in enumerate(header):
        right = all(isinstance(row[at], int | float | None) for row in rows)
        columns.append(Column(name, [text(row[at]) for row in rows], right, needed=True))
    for line in laid_out(columns, screen_width()):
        click.echo(line)


def screen_width() -> int:
    """COLUMNS if it is set, else the width of the terminal; a pipe or file has none, and lines are as long as they are.

    Sentences are wrapped anyway.
    """
    from lgl_bench.report.terminal.layout import UNLIMITED

    asked = os.environ.get("COLUMNS", "")
    return shutil.get_terminal_size().columns if sys.stdout.isatty() or asked.isdigit() else UNLIMITED


def rows_shown(top: int | None, everything: bool) -> int | None:
    """How many rows of each table are printed: as asked for, else ten in a terminal and all elsewhere; None for all."""
    if top is not None or everything:
        return None if everything else top
    return ROWS_IN_TERMINAL if sys.stdout.isatty() else None


def print_text(text: str) -> None:
    """A paragraph, wrapped at words."""
    from lgl_bench.report.terminal.layout import sentences

    click.echo(sentences(text, screen_width()))


def print_board(frame: Any, metrics: Sequence[str], years: Any, view: View) -> None:
    """Ranked leaderboard rows, what the marks mean, and what is to be said of their budgets."""
    from lgl_bench.leaderboard.budget_notes import budget_notes
    from lgl_bench.report.terminal.board import board_text

    click.echo(board_text(frame, metrics, years, view))
    columns = (frame[name] for name in ("budget", "budget_version", "stream", "backbone"))
    for note in budget_notes(zip(*columns, strict=True)):
        print_text(note)


def text(value: Any) -> str:
    """A cell: thousands with commas, shares with three digits, a dash for what is undefined."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000:
        return f"{value:,}"
    return str(value)
