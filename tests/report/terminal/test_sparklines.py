from __future__ import annotations

from lgl_bench.report.terminal.sparklines import sparkline


def test_a_sparkline_rises_with_its_values_and_dots_what_is_undefined():
    assert sparkline([0.0, 0.5, 1.0, None, float("nan")]) == "▁▅█··"
    assert sparkline([0.3, 0.3]) == "▅▅"
    assert sparkline([]) == ""
    assert sparkline([0.5], low=0.5, high=1.0) == "▁"
