"""Figures of strategies for papers, from the same numbers as the panels of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lgl_bench.report.data.names import slug
from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.sources import ReportInput
from lgl_bench.report.data.strategies import StrategyRows, YearGrid, is_end, strategy_rows, year_grids
from lgl_bench.report.panels.strategies import COSTS, strategy_points
from lgl_bench.report.paper_axes import COLOURS, MARKERS, line, log_x, new_figure


def strategy_figures(rows: Sequence[ShownRow], sources: Sequence[ReportInput]) -> dict[str, Any]:
    """Quality against cost, curves and heat maps of every place whose rows differ in their strategy, by file name."""
    found: dict[str, Any] = {}
    for group in strategy_rows(rows):
        found[f"strategies-{slug(group.label)}"] = _costs(group)
        found[f"strategy-curves-{slug(group.label)}"] = _curves(group)
    grids = year_grids(rows, sources)
    for label in dict.fromkeys(grid.label for grid in grids):
        found[f"year-grids-{slug(label)}"] = _heat_maps([grid for grid in grids if grid.label == label])
    return found


def _costs(group: StrategyRows) -> Any:
    figure, axes = new_figure(4, most_across=2)
    pairs = [(quality, cost) for quality in ("accuracy", "auroc") for cost in COSTS]
    for axis, (quality, cost) in zip(axes, pairs, strict=True):
        points = strategy_points(group, cost, quality)
        ends = [one for one in points if one.end]
        axis.plot([one.cost for one in ends], [one.quality for one in ends], "--", color="#888888", linewidth=0.8)
        for one in points:
            at = one.number
            colour, marker = COLOURS[at % len(COLOURS)], MARKERS[(at // len(COLOURS) + at) % len(MARKERS)]
            axis.plot([one.cost], [one.quality], marker, color=colour, label=one.strategy)
            if one.end:
                axis.annotate(one.strategy, (one.cost, one.quality), (4, 4), textcoords="offset points", fontsize=7)
        words = "accuracy" if quality == "accuracy" else f"AUROC of {group.detector}"
        log_x(axis)
        axis.margins(x=0.12)
        axis.set(xlabel=cost.words, ylabel=words)
    figure.suptitle(group.label)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _curves(group: StrategyRows) -> Any:
    figure, axes = new_figure(1)
    figure.set_size_inches(6.4, 3.8)
    for at, row in enumerate(group.rows):
        if row.curve is not None and row.curve.over_years:
            values = zip(row.curve.at, row.curve.means("accuracy"), strict=True)
            points = [(float(year), value) for year, value in values if value is not None]
            line(axes[0], at, [x for x, _ in points], [y for _, y in points], row.shown_strategy, is_end(row))
    axes[0].set(xlabel="year", ylabel="accuracy", title=group.label)
    figure.legend(loc="outside right center")
    return figure


def _heat_maps(grids: Sequence[YearGrid]) -> Any:
    figure, axes = new_figure(len(grids))
    for axis, grid in zip(axes, grids, strict=True):
        low, high = grid.evaluated[0] - 0.5, grid.evaluated[-1] + 0.5
        drawn = axis.imshow(grid.values, vmin=0, vmax=1, cmap="Blues", aspect="auto", extent=(low, high, *_ends(grid)))
        axis.set(title=grid.strategy, xlabel="year of the vertices", ylabel="trained up to")
        axis.grid(visible=False)
    figure.suptitle(grids[0].label)
    figure.colorbar(drawn, ax=axes, label="accuracy")
    return figure


def _ends(grid: YearGrid) -> tuple[float, float]:
    return grid.trained[-1] + 0.5, grid.trained[0] - 0.5
