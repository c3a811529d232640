"""Heat maps: a grid of cells, darker for more, with the names of rows at the left and those of columns above."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lgl_bench.report.svg.charts import Chart, svg
from lgl_bench.report.svg.elements import cut, cut_text, tag, text, width_of

DARKEST = 0.5
"""Opacity of the darkest cell that has a word in it, which must stand out in either scheme."""
_LONGEST = 34
_ROTATED = 40.0


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell.

    Attributes:
        tooltip: What it shows, in words.
        opacity: How dark it is; None for a cell without a value, which is drawn as an empty frame.
        word: What is written in it.
        css: More classes: `own` and `best` are framed, `strong` has a bold word, `less` is below zero.
    """

    tooltip: str
    opacity: float | None
    word: str = ""
    css: str = ""


@dataclass(frozen=True, slots=True)
class HeatGrid:
    """Names of rows and columns, the cells by their positions, and how large one is; x says what columns are."""

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[int, int], HeatCell]
    x: str
    across: float
    down: float
    every: int = 1


def heat_map(title: str, described: str, grid: HeatGrid, *, fills: bool = False, twin: bool = False) -> Chart:
    """Draws a grid.

    Args:
        title: Of the drawing.
        described: It in a sentence.
        grid: What is drawn; of its names every n-th is written.
        fills: Whether the drawing is as wide as its place; otherwise it keeps its size and its place scrolls.
        twin: Whether it shows a synthetic stream.
    """
    names = [cut(str(name), _LONGEST) for name in grid.columns]
    wide = max(map(width_of, names), default=0.0) > grid.across * grid.every
    slope = math.radians(_ROTATED)
    above = (max(map(width_of, names)) * math.sin(slope) if wide else 0.0) + 36
    aside = max(12.0, width_of(names[-1]) * math.cos(slope) - grid.across / 2 + 6) if wide else 6.0
    left = max((width_of(cut(str(name), _LONGEST)) for name in grid.rows), default=0.0) + 8
    right = left + grid.across * len(grid.columns)
    parts = [tag("title", text(title)), tag("desc", text(described))]
    parts.append(tag("text", text(grid.x), x=left, y=12, class_="name"))
    for j in range(0, len(names), grid.every):
        parts.append(_column(str(grid.columns[j]), left + grid.across * (j + 0.5), above - 6, wide))
    for i in range(0, len(grid.rows), grid.every):
        at = {"x": left - 5, "y": above + grid.down * (i + 0.5) + 4}
        parts.append(cut_text(str(grid.rows[i]), _LONGEST, **at, class_="tick end"))
    for (i, j), cell in grid.cells.items():
        parts.append(_cell(cell, left + grid.across * j, above + grid.down * i, grid))
    width, height = right + aside, above + grid.down * len(grid.rows) + 6
    if fills:
        return Chart(title, svg(width, height, *parts), twin=twin)
    return Chart(title, svg(width, height, *parts, css="chart natural", width=width), width=width, twin=twin)


def _column(name: str, x: float, y: float, rotated: bool) -> str:
    if not rotated:
        return cut_text(name, _LONGEST, x=x, y=y, class_="tick mid")
    turned = f"rotate(-{_ROTATED:g} {x:.1f} {y:.1f})"
    return cut_text(name, _LONGEST, x=x, y=y, class_="tick", transform=turned)


def _cell(cell: HeatCell, x: float, y: float, grid: HeatGrid) -> str:
    size = {"x": x, "y": y, "width": grid.across, "height": grid.down}
    parts = [tag("title", text(cell.tooltip))]
    if cell.opacity is None:
        parts.append(tag("rect", **size, class_="blank"))
    else:
        parts.append(tag("rect", **size, class_=f"heat {cell.css}".rstrip(), fill_opacity=f"{cell.opacity:.2f}"))
    if cell.word:
        strong = " strong" if "strong" in cell.css else ""
        at = {"x": x + grid.across / 2, "y": y + grid.down / 2 + 4}
        parts.append(tag("text", text(cell.word), **at, class_=f"value mid{strong}"))
    return tag("g", *parts)
