from __future__ import annotations

from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.cost import cost_panel, pareto
from tests.support.report_boards import write_run, year_frame


def test_the_front_leaves_out_what_is_dearer_and_no_better():
    assert pareto([(2, 0.5), (1, 0.5), (3, 0.6), (4, 0.55)]) == [1, 2]
    assert pareto([]) == []


def test_the_front_is_a_staircase_whose_rows_are_named(tmp_path):
    # The first row is best and cheapest; the others cost more, so the front is that row, level to the end.
    rows = report_rows(read_sources([write_run(tmp_path / "run", year_frame(thresholds=[""]))]))
    (chart,) = cost_panel(rows).charts
    assert ">msp, gcn</text>" in chart.svg and chart.svg.count(">msp, gcn</text>") == 1
    assert ">good(msp), gcn</text>" not in chart.svg
    assert chart.names == ("other rows", "Pareto front")
