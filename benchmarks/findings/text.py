"""Markdown: tables, numbers and lists as the page writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from lgl_bench.leaderboard.compare.standing import BETTER, INCONCLUSIVE, TIE, UNTESTED, WORSE, word_of

NUMBER = "#"
"""How the name of a column of numbers begins, which are set to the right; it is not shown."""
MAX_LINES = 25
NO_BOARD = "There is no board `leaderboard/{}.csv` yet."


class Section(NamedTuple):
    """A question of the page.

    Attributes:
        question: Its heading.
        answer: A sentence made from the numbers.
        sure: How sure it is.
        lines: All that stands below the heading.
    """

    question: str
    answer: str
    sure: str
    lines: list[str]


class Counts(NamedTuple):
    """How many pairs of rows came out which way."""

    better: int
    worse: int
    open: int
    untested: int

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


def counts(verdicts: Iterable[str]) -> Counts:
    """Counts verdicts; what is a tie or inconclusive is not told apart."""
    words = [word_of(word) for word in verdicts]
    return Counts(
        words.count(BETTER),
        words.count(WORSE),
        words.count(TIE) + words.count(INCONCLUSIVE),
        len(words) - sum(words.count(word) for word in (BETTER, WORSE, TIE, INCONCLUSIVE)),
    )


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a table and an empty one, at most `MAX_LINES` rows; what is left out is counted."""
    rows = list(rows)
    names = [name.removeprefix(NUMBER) for name in header]
    marks = ["---:" if name.startswith(NUMBER) else "---" for name in header]
    lines = [_line(names), _line(marks), *(_line(row) for row in rows[:MAX_LINES]), ""]
    return lines if len(rows) <= MAX_LINES else [*lines, f"{len(rows) - MAX_LINES} more lines are left out.", ""]


def _line(cells: Iterable[object]) -> str:
    return "|" + "|".join(f" {cell} " if str(cell) else " " for cell in cells) + "|"


def value(number: Any) -> str:
    """A figure, or that there is none."""
    return "" if pd.isna(number) else f"{number:.3f}"


def signed(number: Any) -> str:
    """A difference, or that there is none."""
    return "" if pd.isna(number) else f"{round(float(number), 3) + 0.0:+.3f}"


def within(mean: Any, lo: Any, hi: Any) -> str:
    """A figure with its interval, if it has one."""
    return value(mean) if pd.isna(lo) else f"{mean:.3f} [{lo:.3f}, {hi:.3f}]"


def between(lo: Any, hi: Any) -> str:
    """An interval of a difference, if there is one."""
    return "" if pd.isna(lo) else f"[{lo:+.3f}, {hi:+.3f}]"


def chance(p: Any) -> str:
    """A p as it is written.

    >>> chance(0.0123), chance(0.00001)
    ('p = 0.012', 'p < 0.001')
    """
    return "p unknown" if pd.isna(p) else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def few(names: Sequence[str], most: int = 8) -> str:
    """A list in words, cut off where it gets long.

    >>> few(["a", "b", "c"], 2), few([])
    ('a, b and 1 more', 'none')
    """
    if not names:
        return "none"
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


def untested_words(number: int) -> str:
    """A half sentence on what was not tested; empty if everything was."""
    return f"; {number} {UNTESTED}" if number else ""


def shell(*commands: str) -> list[str]:
    """A block of commands."""
    return ["```sh", *commands, "```", ""]
