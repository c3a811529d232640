from __future__ import annotations

from lgl_bench.report.panels.cost import pareto


def test_the_front_leaves_out_what_is_dearer_and_no_better():
    assert pareto([(2, 0.5), (1, 0.5), (3, 0.6), (4, 0.55)]) == [1, 2]
    assert pareto([]) == []
