from __future__ import annotations

import pytest

from lgl_bench.report.svg.style import Node, light_colours, standalone, style_of


def _node(name, *classes):
    return Node(name, frozenset(classes))


SVG = _node("svg", "chart")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ([SVG, _node("text", "tick", "mid")], {"text-anchor": "middle", "font-size": "11px"}),
        ([SVG, _node("g"), _node("text", "value", "mid", "strong")], {"font-weight": "700"}),
        ([SVG, _node("g", "c1", "dashed"), _node("path", "line")], {"stroke-dasharray": "5 4", "fill": "none"}),
        ([SVG, _node("g", "c1"), _node("path", "line")], {"stroke-dasharray": None}),
        ([SVG, _node("g", "bars", "c0"), _node("rect")], {"fill": "currentColor"}),
    ],
)
def test_the_rules_of_the_style_sheet_apply_outside_of_the_page(path, expected):
    found = style_of(path)
    assert {name: found.get(name) for name in expected} == expected


def test_the_more_specific_rule_wins():
    assert style_of([SVG, _node("text", "value")])["fill"] == light_colours()["ink"]
    assert style_of([SVG, _node("text", "tick")])["fill"] == light_colours()["soft"]


def test_a_drawing_on_its_own_has_a_size_and_no_name_of_a_colour():
    found = standalone('<svg viewBox="0 0 40 20" class="chart natural" width="40" role="img"><text>a</text></svg>')
    assert found.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" viewBox="0 0 40 20"')
    assert "var(" not in found and "light-dark" not in found and found.split("<style>")[0].count("width=") == 1
