from __future__ import annotations

from lgl_bench.report.svg.charts import Axes, Dot, Series, chart


def test_a_chart_escapes_every_text_and_survives_a_single_point():
    drawn = chart("<b>", "a & b", [Series("x", [Dot(1, 0.5, "<i>")], 0)], Axes("<x>", "y", whole=True))
    assert "<b>" not in drawn.svg and "<i>" not in drawn.svg and "<x>" not in drawn.svg
    assert "&lt;b&gt;" in drawn.svg and "nan" not in drawn.svg
    assert chart("none", "", [], Axes("x", "y")).svg.startswith("<svg")
