from __future__ import annotations

import re
from itertools import pairwise

from lgl_bench.report.svg.charts import Dot, Series, chart
from lgl_bench.report.svg.frame import Axes


def test_a_chart_escapes_every_text_and_survives_a_single_point():
    drawn = chart("<b>", "a & b", [Series("x", [Dot(1, 0.5, "<i>")], 0)], Axes("<x>", "y", whole=True))
    assert "<b>" not in drawn.svg and "<i>" not in drawn.svg and "<x>" not in drawn.svg
    assert "&lt;b&gt;" in drawn.svg and "nan" not in drawn.svg
    assert chart("none", "", [], Axes("x", "y")).svg.startswith("<svg")


def _ticks(svg: str, css: str) -> list[str]:
    return re.findall(rf'class="tick {css}">([^<]*)<', svg)


def test_an_axis_of_a_share_ends_at_one_whatever_the_data():
    series = [Series("x", [Dot(1, 0.61, "", 0.5, 1.2), Dot(2, 0.99, "", 0.9, 1.3)], 0)]
    drawn = chart("t", "", series, Axes("year", "AUROC", y_end=1.0))
    assert _ticks(drawn.svg, "end")[-1] == "1" and max(map(float, _ticks(drawn.svg, "end"))) == 1.0
    band = re.search(r'<path d="M([^"]*)" class="band', drawn.svg).group(1)
    heights = [float(pair.split()[1]) for pair in band.rstrip("Z").replace("L", "|").split("|")]
    assert min(heights) == 28  # where the axis ends, not above


def test_years_and_counts_have_whole_ticks_the_same_distance_apart():
    years = [Series("x", [Dot(year, count, "") for year, count in zip(range(2000, 2017), range(17), strict=True)], 0)]
    drawn = chart("t", "", years, Axes("year", "classes", whole=True, whole_y=True))
    assert _ticks(drawn.svg, "mid") == ["2000", "2005", "2010", "2015"]
    few = [Series("x", [Dot(2006, 1, ""), Dot(2007, 2, "")], 0)]
    drawn = chart("t", "", few, Axes("year", "classes", whole=True, whole_y=True))
    assert _ticks(drawn.svg, "mid") == ["2006", "2007"] and _ticks(drawn.svg, "end") == ["1", "2"]


def test_names_stand_at_the_ends_of_lines_without_one_above_another():
    series = [Series(name, [Dot(1, 0.5, ""), Dot(2, 0.7, "")], at) for at, name in enumerate(["one", "two", "three"])]
    drawn = chart("t", "", series, Axes("year", "AUROC", y_end=1.0, wide=True, end_names=True))
    heights = [float(y) for y in re.findall(r'y="([\d.]+)" class="end-name', drawn.svg)]
    assert len(heights) == 3 and all(b - a >= 13 for a, b in pairwise(sorted(heights)))
    assert "key" not in drawn.svg


def test_a_staircase_stays_level_until_the_next_dot_and_to_the_end_of_the_frame():
    drawn = chart("t", "", [Series("x", [Dot(0, 0.5, ""), Dot(1, 0.9, "")], 0, "steps")], Axes("x", "y"))
    points = re.search(r'<path d="M([^"]*)" class="line"', drawn.svg).group(1).split(" L")
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = [tuple(map(float, one.split())) for one in points]
    assert y0 == y1 and x1 == x2 and y2 == y3 and x0 < x1 < x3 and y2 < y0


def test_a_legend_is_part_of_the_drawing():
    two = [Series(name, [Dot(1, 0.5, "")], at) for at, name in enumerate(["one", "<two>"])]
    drawn = chart("t", "", two, Axes("x", "y"))
    assert 'class="key"' in drawn.svg and "&lt;two&gt;</text>" in drawn.svg
    assert "key" not in chart("t", "", two[:1], Axes("x", "y")).svg
