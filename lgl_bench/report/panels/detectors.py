"""Detector x backbone: the figure that ranks, as a heat map per stream."""

from __future__ import annotations

from collections.abc import Sequence

from lgl_bench.leaderboard.floor import YES
from lgl_bench.report.data.detector_grids import DetectorGrid, detector_grids, value_of
from lgl_bench.report.data.metrics import tooltip
from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart
from lgl_bench.report.svg.heat import DARKEST, HeatCell, HeatGrid, heat_map

_PALEST = 0.04
_ABOUT = (
    "AUROC of every detector with every backbone, the best detectors first, by their mean. Darker is better, on the "
    "range of its stream; the best of all is framed; bold beats the floor beyond noise. An empty cell was not run, a "
    "dash has no value: hover for the reason."
)


def detector_panel(rows: Sequence[ShownRow], name: str = "detectors") -> Panel:
    """A heat map per place."""
    title = "Detector × backbone"
    grids = detector_grids(rows)
    if not grids:
        return Panel(name, title, _ABOUT, empty="No row is ranked by AUROC: every one has a threshold.")
    return Panel(name, title, _ABOUT, tuple(map(_map, grids)), _table(grids), maps=True, kind="heat-map")


def _table(grids: Sequence[DetectorGrid]) -> Table:
    cells = [
        (grid.place.label, name, column, *_figures(grid.cells.get((i, j))))
        for grid in grids
        for i, name in enumerate(grid.detectors)
        for j, column in enumerate(grid.columns)
    ]
    return Table(("place", "detector", "column", "run", "auroc", "lo", "hi", "rank"), cells)


def _figures(row: ShownRow | None) -> tuple[object, ...]:
    if row is None:
        return (False, None, None, None, None)
    figure = row.figures[row.ranks_by]
    return (True, figure.mean, figure.lo, figure.hi, row.rank)


def _map(grid: DetectorGrid) -> Chart:
    defined = {at: value for at, row in grid.cells.items() if (value := value_of(row)) is not None}
    low, high = (min(defined.values()), max(defined.values())) if defined else (0.0, 1.0)
    cells = {}
    for i, detector in enumerate(grid.detectors):
        for j, column in enumerate(grid.columns):
            name, row = f"{detector} with {column}", grid.cells.get((i, j))
            if row is None:
                cells[i, j] = HeatCell(f"{name}: not run", None)
            elif (i, j) not in defined:
                cells[i, j] = HeatCell(f"{name}: {row.unranked_reason or 'undefined'}", None, "–")
            else:
                value = defined[i, j]
                share = 1.0 if high <= low else (value - low) / (high - low)
                words = f"{name}: AUROC {tooltip(row.figures[row.ranks_by])}, rank {row.rank}"
                css = f"{'best' if value == high else ''}{' strong' if row.above_floor == YES else ''}".strip()
                cells[i, j] = HeatCell(words, _PALEST + share * (DARKEST - _PALEST), f"{value:.3f}", css)
    drawn = HeatGrid(grid.detectors, grid.columns, cells, grid.columns_are, _across(grid), 22.0)
    return heat_map(grid.place.title, _described(grid, defined), drawn, twin=grid.place.twin)


def _across(grid: DetectorGrid) -> float:
    """A cell is wide enough for the usual name of a backbone; where names are longer they are turned."""
    return 60.0 if max(map(len, grid.columns)) < 10 else 44.0


def _described(grid: DetectorGrid, defined: dict[tuple[int, int], float]) -> str:
    size = f"{len(grid.detectors)} detectors, {len(grid.columns)} columns by {grid.columns_are}"
    if not defined:
        return f"{size}; no cell has a value."
    i, j = max(defined, key=lambda at: defined[at])
    return f"{size}; the best is {grid.detectors[i]} with {grid.columns[j]}, AUROC {defined[i, j]:.3f}."
