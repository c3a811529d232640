from __future__ import annotations

from lgl_bench.report.svg.heat import HeatCell, HeatGrid, heat_map


def _map(rows, columns, cells):
    return heat_map("<t>", "a & b", HeatGrid(rows, columns, cells, "backbone", 60.0, 22.0))


def test_a_heat_map_escapes_every_text_and_turns_names_that_are_wider_than_a_cell():
    cells = {(0, 0): HeatCell("<i>", 0.25, "0.9", "best strong")}
    short, long = (_map(["<b>"], [name], cells).svg for name in ("gcn", "graph-attention-network"))
    assert "<b>" not in short and "<i>" not in short and "<t>" not in short and "&lt;b&gt;" in short
    assert "rotate(" not in short and "rotate(-40" in long
    assert 'class="heat best strong" fill-opacity="0.25"' in short and 'class="value mid strong"' in short


def test_a_cell_without_a_value_is_an_empty_frame():
    drawn = _map(["msp"], ["gcn", "gat"], {(0, 0): HeatCell("not run", None), (0, 1): HeatCell("0.5", 0.5)}).svg
    assert drawn.count('class="blank"') == 1 and drawn.count('class="heat"') == 1


def test_a_heat_map_of_nothing_is_drawn_all_the_same():
    assert _map([], [], {}).svg.startswith("<svg")
