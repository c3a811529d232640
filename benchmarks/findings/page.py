"""docs/findings.md: the summary and the sections below it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import budgets, floor, good, propagation, rivals, strategies, survival, thresholds
from .tables import GOOD_FILE, ROOT, Tables
from .text import Section, table

PAGE = ROOT / "docs" / "findings.md"
SECTIONS: tuple[Callable[[Tables], Section], ...] = (
    floor.section,
    good.section,
    survival.section,
    rivals.section,
    thresholds.section,
    strategies.section,
    budgets.section,
    propagation.section,
)
_HEADER = """\
# Findings

<!-- Written by `python benchmarks/findings.py page` from leaderboard/; change the script, not this page. -->

What the boards of this repository show on real streams, negative results among it; twins are not counted. "How sure" is
the verdict of [the paired test](comparing.md): better, worse, tie, or inconclusive with the seeds it would take. It is
adjusted for the number of pairs that were tested; a 95 % interval beside it is that of its pair alone. Numbers of
different budgets share a table only where budgets are compared. The answers below are made from the numbers by rules.
"""


def page(tables: Tables) -> str:
    """The whole page."""
    sections = [section(tables) for section in SECTIONS]
    summary = table(["question", "answer", "how sure"], ([_link(one), one.answer, one.sure] for one in sections))
    parts = [_HEADER, *summary]
    for one in sections:
        parts += [f"## {one.question}", "", *one.lines]
    return "\n".join(parts).rstrip("\n") + "\n"


def files(tables: Tables) -> dict[Path, str]:
    """Every file that the command `page` writes, with its text."""
    return {PAGE: page(tables), tables.folder / "findings" / GOOD_FILE: good.listed(tables)}


def _link(section: Section) -> str:
    kept = "".join(letter for letter in section.question.lower() if letter.isalnum() or letter in " -_")
    return f"[{section.question}](#{kept.replace(' ', '-')})"
