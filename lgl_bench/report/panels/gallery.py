"""Every figure there is: the page of figures shows these, and a paper gets the same."""

from __future__ import annotations

from collections.abc import Sequence

from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.sources import ReportInput
from lgl_bench.report.panels.cost import cost_panel
from lgl_bench.report.panels.critical import critical_panel
from lgl_bench.report.panels.delay import delay_panel
from lgl_bench.report.panels.detectors import detector_panel
from lgl_bench.report.panels.over_base import over_base_panel
from lgl_bench.report.panels.over_time import leaders_panel
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.panels.ranking import ranking_panel
from lgl_bench.report.panels.strategies import strategy_curves_panel, strategy_panel, year_grid_panel
from lgl_bench.report.panels.sweeps import alpha_panel, sensitivity_panel


def gallery(rows: Sequence[ShownRow], sources: Sequence[ReportInput]) -> list[Panel]:
    """All panels of a report; what cannot be drawn says why."""
    strategies = []
    if any(row.shown_strategy for row in rows):
        strategies = [strategy_panel(rows), strategy_curves_panel(rows), year_grid_panel(rows, sources)]
    return [
        leaders_panel(rows, "leaders"),
        detector_panel(rows),
        over_base_panel(rows),
        ranking_panel(rows),
        cost_panel(rows),
        *strategies,
        alpha_panel(rows),
        sensitivity_panel(rows),
        delay_panel(rows, sources),
        critical_panel(rows),
    ]
