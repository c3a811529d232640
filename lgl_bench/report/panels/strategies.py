"""Strategies: quality against cost, accuracy over the years, and every model on every year."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from lgl_bench.leaderboard.table.names import Fact
from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.sources import ReportInput
from lgl_bench.report.data.strategies import StrategyRows, YearGrid, is_end, strategy_rows, year_grids
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.over_time import SHADED, axes_of, curve_table, dots
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart, Dot, Series, chart
from lgl_bench.report.svg.frame import Axes
from lgl_bench.report.svg.heat import HeatCell, HeatGrid, heat_map

NO_STRATEGIES = "The rows do not differ in their strategy; 'lgl-bench run --suite lifelong' runs them all."


class Cost(NamedTuple):
    """A cost that quality is set against: the field of a row, in words, and what the least one shown is."""

    field: Literal["fit_seconds", "memory_mb"]
    words: str
    least: float


COSTS = (Cost("fit_seconds", "seconds of fitting", 0.1), Cost("memory_mb", "memory kept, MiB", 0.001))


class StrategyPoint(NamedTuple):
    """A strategy: its cost and quality, whether it is one of the two ends, and its number, which has a colour."""

    strategy: str
    cost: float
    quality: float
    end: bool
    number: int


def strategy_points(group: StrategyRows, cost: Cost, quality: str) -> list[StrategyPoint]:
    """The strategies of a place with both a cost and a quality, which is the ranking AUROC or another metric."""
    found = []
    for number, row in enumerate(group.rows):
        value = row.figures[row.ranks_by if quality == "auroc" else quality].mean
        spent = getattr(row, cost.field)
        if value is not None and spent is not None:
            found.append(StrategyPoint(row.shown_strategy, max(spent, cost.least), value, is_end(row), number))
    return found


def strategy_panel(rows: Sequence[ShownRow]) -> Panel:
    """Accuracy and AUROC of every strategy against training time and memory, one chart per place and pair."""
    title, name = "Quality against cost of strategies", "strategies"
    about = (
        "Each mark is a strategy. The dashed line joins the two ends: finetune, which keeps nothing, and joint, which "
        "keeps everything and trains anew; joint is a ceiling of accuracy, not of cost. A strategy above the line is "
        "worth what it costs. Seconds are those of all years and seeds; memory is the most that was kept of the past."
    )
    charts, table = [], []
    for group in strategy_rows(rows):
        for quality, words in (("accuracy", "accuracy"), ("auroc", f"AUROC of {group.detector}")):
            for cost in COSTS:
                points = strategy_points(group, cost, quality)
                if len(points) > 1:
                    where = f"{group.label}: {words}, {cost.words}"
                    charts.append(_scatter(points, where, words, cost, group.place.twin))
        table += [
            (
                *(group.label, row.strategy, row.figures["accuracy"].mean, row.figures[row.ranks_by].mean),
                *(row.figures["forgetting"].mean, row.figures["emergence"].mean),
                *(row.fit_seconds, row.memory_vertices, row.memory_mb),
            )
            for row in group.rows
        ]
    if not charts:
        return Panel(name, title, about, empty=NO_STRATEGIES)
    columns = ["place", "strategy", "accuracy", "auroc", "forgetting", "emergence"]
    columns += [Fact.FIT_SECONDS, Fact.MEMORY_VERTICES, Fact.MEMORY_MB]
    return Panel(name, title, about, tuple(charts), Table(columns, table))


def _scatter(points: Sequence[StrategyPoint], title: str, words: str, cost: Cost, twin: bool) -> Chart:
    series = []
    for one in points:
        tooltip = f"{one.strategy}: {one.cost:.3g} {cost.words}, {words} {one.quality:.3f}"
        dot = Dot(one.cost, one.quality, tooltip, label=one.strategy if one.end else "")
        series.append(Series(one.strategy, [dot], one.number, "dots"))
    ends = [Dot(one.cost, one.quality, one.strategy) for one in points if one.end]
    if len(ends) > 1:
        series.insert(0, Series("", ends, 6, dashed=True))
    axes = Axes(cost.words, words, y_end=1.0, log_x=True)
    return chart(title, f"{words} of {len(points)} strategies.", series, axes, twin=twin)


def strategy_curves_panel(rows: Sequence[ShownRow]) -> Panel:
    """Accuracy of every strategy over the years, one chart per place."""
    title, name = "Strategies over the years", "strategy-curves"
    about = "Accuracy on each year's vertices of known classes, by the model that was trained up to the year before."
    about = f"{about} {SHADED}."
    charts, drawn = [], []
    for group in strategy_rows(rows):
        curves = [(row, row.curve) for row in group.rows if row.curve is not None and row.curve.over_years]
        series = [
            Series(
                row.shown_strategy,
                [Dot(dot.x, dot.y, dot.tooltip) for dot in dots(curve, "accuracy", row.shown_strategy)],
                colour,
                dashed=is_end(row),
            )
            for colour, (row, curve) in enumerate(curves)
        ]
        if any(one.dots for one in series):
            axes, twin = axes_of(curves[0][1], "accuracy", wide=True), group.place.twin
            charts.append(chart(group.label, "Accuracy over the years.", series, axes, twin=twin))
            drawn += [row for row, _ in curves]
    if not charts:
        return Panel(name, title, about, empty=NO_STRATEGIES)
    return Panel(name, title, about, tuple(charts), curve_table(drawn), wide=True)


def year_grid_panel(rows: Sequence[ShownRow], sources: Sequence[ReportInput]) -> Panel:
    """Heat maps of every model on every year, for a few strategies."""
    title, name = "Every model on every year", "year-grids"
    about = (
        "Accuracy of the model trained up to a year (rows, downwards) on the vertices born in a year (columns), over "
        "the classes it knows; darker is better. Left of the diagonal lies what was learned: cells that pale "
        "downwards are forgotten. Right of it lies what was still to come."
    )
    grids = year_grids(rows, sources)
    if not grids:
        return Panel(name, title, about, empty="No model answered for every year; a run with --matrix lets them.")
    table = [
        (grid.label, grid.strategy, year, other, None if np.isnan(value) else value)
        for grid in grids
        for year, line in zip(grid.trained, grid.values.tolist(), strict=True)
        for other, value in zip(grid.evaluated, line, strict=True)
    ]
    columns = ("place", "strategy", "trained_up_to", "evaluated_on", "accuracy")
    return Panel(name, title, about, tuple(_heat_map(grid) for grid in grids), Table(columns, table))


def _heat_map(grid: YearGrid) -> Chart:
    step = 340.0 / max(len(grid.evaluated), len(grid.trained))
    cells = {}
    for i, year in enumerate(grid.trained):
        for j, other in enumerate(grid.evaluated):
            value = float(grid.values[i, j])
            if not np.isnan(value):
                tooltip = f"trained up to {year}, on {other}: accuracy {value:.3f}"
                cells[i, j] = HeatCell(tooltip, value, css="own" if year == other else "")
    rows, columns = ([str(year) for year in years] for years in (grid.trained, grid.evaluated))
    drawn = HeatGrid(rows, columns, cells, "year of the vertices", step, step, -(-len(columns) // 6))
    described = f"Accuracy of {len(rows)} models on every year."
    return heat_map(f"{grid.label}: {grid.strategy}", described, drawn, fills=True, twin=grid.twin)
