"""GOOD minus its base: what averaging with the neighbours adds to each detector, as a heat map per stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lgl_bench.leaderboard.compare.standing import BETTER, UNTESTED, WORSE, word_of
from lgl_bench.leaderboard.over_base import OverBase
from lgl_bench.report.data.detector_grids import DetectorGrid, detector_grids
from lgl_bench.report.data.rows import Place, ShownRow
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart
from lgl_bench.report.svg.heat import DARKEST, HeatCell, HeatGrid, heat_map

_LEAST = 0.02
"""The difference that is darkest at least: smaller ones than that look small."""
_ABOUT = (
    "AUROC of GOOD less that of the detector it wraps, with the same backbone. Blue is a gain, orange a loss, bold is "
    "told apart from zero at 5 % after Holm's adjustment. An empty cell was not run."
)
_PAIRED = "Hover for the 95 % interval of the paired difference."
_MEANS = (
    "Some rows come from tables without tests beside them: their differences are those of means and have no interval; "
    "what is told apart is so by Welch's t."
)
_EMPTY = "No row of GOOD stands beside a row of the detector it wraps."


class Gain(NamedTuple):
    """What GOOD adds on a place: how many pairs, their mean difference, and how many are better and worse."""

    pairs: int
    mean: float
    better: int
    worse: int
    untested: int

    @property
    def words(self) -> str:
        """The verdict in words."""
        rest = self.pairs - self.better - self.worse - self.untested
        parts = [
            (self.better, "better"),
            (self.worse, "worse"),
            (rest, "not told apart"),
            (self.untested, "not tested"),
        ]
        return ", ".join(f"{count} {word}" for count, word in parts if count)


def gain_on(rows: Sequence[ShownRow], place: Place) -> Gain | None:
    """What GOOD adds on a place; None if it was not run there."""
    found = [row.over_base for row in rows if row.place == place and row.over_base is not None]
    if not found:
        return None
    words = Counter(word_of(one.verdict) for one in found)
    mean = float(np.mean([one.value for one in found]))
    return Gain(len(found), mean, words[BETTER], words[WORSE], words[UNTESTED])


def over_base_panel(rows: Sequence[ShownRow], name: str = "good") -> Panel:
    """A heat map of differences per place."""
    title = "GOOD minus its base"
    grids = detector_grids([row for row in rows if row.over_base is not None])
    if not grids:
        return Panel(name, title, _ABOUT, empty=_EMPTY)
    gains = [row.over_base for row in rows if row.over_base is not None]
    most = max(_LEAST, *(abs(one.value) for one in gains))
    about = [_ABOUT]
    about += [_PAIRED] if any(one.lo is not None for one in gains) else []
    about += [_MEANS] if any(not one.paired for one in gains) else []
    return Panel(
        name,
        title,
        " ".join(about),
        tuple(_map(grid, most) for grid in grids),
        _table(grids),
        maps=True,
        kind="good-minus-base",
    )


def _table(grids: Sequence[DetectorGrid]) -> Table:
    cells: list[tuple[object, ...]] = []
    for grid in grids:
        for (i, j), row in sorted(grid.cells.items(), key=lambda item: item[0]):
            one = _gain(row)
            cells.append((grid.place.label, grid.detectors[i], grid.columns[j], row.detector, *one))
    return Table(("place", "method", "column", "detector", *OverBase._fields), cells)


def _gain(row: ShownRow) -> OverBase:
    assert row.over_base is not None
    return row.over_base


def _map(grid: DetectorGrid, most: float) -> Chart:
    cells = {}
    for i, detector in enumerate(grid.detectors):
        for j, column in enumerate(grid.columns):
            row = grid.cells.get((i, j))
            if row is None:
                cells[i, j] = HeatCell(f"{detector} with {column}: not run", None)
            else:
                cells[i, j] = _cell(_gain(row), f"{detector} with {column}", most)
    across = 60.0 if max(map(len, grid.columns)) < 10 else 48.0
    values = [_gain(row).value for row in grid.cells.values()]
    described = f"{len(values)} pairs; differences lie between {min(values):+.3f} and {max(values):+.3f}."
    drawn = HeatGrid(grid.detectors, grid.columns, cells, grid.columns_are, across, 22.0)
    return heat_map(grid.place.title, described, drawn, twin=grid.place.twin)


def _cell(one: OverBase, name: str, most: float) -> HeatCell:
    interval = f", 95 % interval {one.lo:+.4f} to {one.hi:+.4f}" if one.lo is not None and one.hi is not None else ""
    how = "" if one.paired else ", a difference of means"
    told = word_of(one.verdict) in (BETTER, WORSE)
    css = f"{'less' if one.value < 0 else ''}{' strong' if told else ''}".strip()
    tooltip = f"{name}: {one.value:+.4f} over {one.base}{interval}{how}, {one.verdict}"
    return HeatCell(tooltip, DARKEST * min(abs(one.value) / most, 1.0), f"{round(one.value, 3) + 0.0:+.3f}", css)
