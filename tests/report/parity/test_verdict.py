from __future__ import annotations

from dataclasses import dataclass

import pytest

from lgl_bench.report.parity.cells import TRANSDUCTIVE, Cell
from lgl_bench.report.parity.table import parity_table
from lgl_bench.report.parity.verdict import FAR, MIN_SEEDS, Compared, Mark, Verdict, near, verdict
from tests.support.measurements import measured


@dataclass(frozen=True)
class Made:
    """A cell of which the paper prints 0.9 and 0.8, as often as there are differences."""

    differences: tuple[float | None, ...]
    seeds: int = MIN_SEEDS
    switch: str = ""

    @property
    def figures(self) -> tuple[Compared, ...]:
        return tuple(
            Compared(metric, paper, None if more is None else paper + more, None, more)
            for metric, paper, more in zip(("accuracy", "auroc"), (0.9, 0.8), self.differences, strict=False)
        )


@pytest.mark.parametrize(
    ("differences", "is_near"),
    [
        ((0.03, -0.03), True),
        ((0.0301, 0.0), False),
        ((0.0, -0.0301), False),
        ((0.0, None), False),
        ((), False),
        ((0.01,), True),
    ],
)
def test_a_cell_is_near_if_every_printed_figure_was_measured_and_is_within_three_hundredths(differences, is_near):
    assert FAR == 0.03
    assert near(Made(differences)) == is_near


def test_a_near_cell_is_within_whatever_its_switches_do():
    assert verdict(Made((0.01, 0.02)), [Made((0.0, 0.0), switch="layer")]) == Verdict(Mark.WITHIN)


def test_a_switch_explains_a_far_cell_if_the_cell_is_near_with_it_and_every_such_switch_is_named():
    switched = [
        Made((0.0, 0.01), switch="layer"),
        Made((0.0, 0.2), switch="weights"),
        Made((0.02, 0.03), switch="odin-step"),
    ]
    assert verdict(Made((0.0, 0.05)), switched) == Verdict(Mark.EXPLAINED, ("layer", "odin-step"))


def test_a_far_cell_that_no_switch_brings_near_is_open():
    assert verdict(Made((0.0, 0.05)), [Made((0.05, 0.0), switch="layer")]) == Verdict(Mark.OPEN)
    assert verdict(Made((0.0, 0.05))) == Verdict(Mark.OPEN)


def test_a_cell_without_a_number_is_not_measured_even_if_a_switch_was():
    assert verdict(None, [Made((0.0, 0.0), switch="layer")]) == Verdict(Mark.UNMEASURED)
    assert verdict(Made((None, None))) == Verdict(Mark.UNMEASURED)


def test_a_cell_of_which_one_figure_is_missing_is_open():
    assert verdict(Made((0.0, None))).mark == Mark.OPEN


@pytest.mark.parametrize(("ours", "layer", "weights", "few"), [(3, 3, 1, False), (2, 3, 3, True), (3, 2, 1, True)])
def test_an_explanation_has_few_seeds_if_ours_has_or_every_switch_that_explains(ours, layer, weights, few):
    switched = [Made((0.0, 0.0), layer, "layer"), Made((0.0, 0.0), weights, "weights")]
    found = verdict(Made((0.0, 0.1), ours), switched)
    assert (found.mark, found.few_seeds) == (Mark.EXPLAINED, few)
    assert found.answered != few


def test_two_seeds_are_few_whatever_the_mark():
    assert verdict(Made((0.0, 0.0), 2)) == Verdict(Mark.WITHIN, few_seeds=True)
    assert verdict(Made((0.0, 0.1), 2)) == Verdict(Mark.OPEN, few_seeds=True)
    assert not verdict(Made((0.0, 0.0), 2)).answered and verdict(Made((0.0, 0.0))).answered


def test_rows_of_the_parity_table_have_the_figures_the_paper_prints():
    (check,) = parity_table(measured(Cell("cora", TRANSDUCTIVE, "graph-mlp", "softmax"), [(0.78, {})]))
    assert [(one.metric, one.paper) for one in check.figures] == [("accuracy", 0.778)]
    assert verdict(check) == Verdict(Mark.WITHIN, few_seeds=True)
    (twin,) = parity_table(measured(Cell("cora-twin", "60-20-20", "gcn", "softmax"), [(0.9, {"odin": 0.8})]))
    assert twin.figures == () and verdict(twin) == Verdict(Mark.UNMEASURED)
