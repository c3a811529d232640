from __future__ import annotations

from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.table import parity_table
from lgl_bench.report.parity.text import markdown
from tests.support.measurements import CELL, measured


def some_rows():
    return parity_table(
        [
            *measured(CELL, [(0.9, {"odin": 0.8})]),
            *measured(CELL, [(0.9, {"odin": 0.83})], switch="odin-step"),
            *measured(CELL, [(0.88, {"odin": 0.82})], switch="layer"),
        ]
    )


def test_the_table_for_reading_shows_paper_ours_and_the_signed_difference():
    text = markdown(some_rows(), 1)
    assert "| cora | 60-20-20 | gcn | odin | 1 | 0123456 | 0.890 | 0.900 | +0.010 | 0.840 | 0.800 | -0.040 |" in text
    assert "torch 1" in text and "dgl 2" in text


def test_what_the_published_code_does_differently_stands_beside_ours_in_a_table_of_its_own():
    first, second = markdown(some_rows(), 1).split("## What the published code does differently")
    assert "odin-step" not in first.partition("## ")[0]
    row = "| cora | 60-20-20 | gcn | odin | odin-step | 1 | 0123456 | 0.890 | 0.900 | 0.900 | +0.010 "
    assert row + "| 0.840 | 0.800 | 0.830 | -0.010 |" in second


def test_the_report_begins_with_how_many_printed_cells_are_answered():
    first = markdown(some_rows(), 1).splitlines()[0]
    assert first == (
        "Of 33 printed cells 0 are within 0.03, 1 are explained by a switch, 0 are not explained, and 32 are not "
        "measured; 1 of these answers rest on fewer than 3 seeds."
    )


def far_table(*measurements):
    text = markdown(parity_table([row for rows in measurements for row in rows]), 1)
    return text.partition("## Cells further than 0.03")[2].partition("\n## ")[0]


def test_a_cell_far_from_the_printed_one_is_listed_with_the_switch_that_explains_it():
    ours, step = measured(CELL, [(0.9, {"odin": 0.8})]), measured(CELL, [(0.9, {"odin": 0.83})], switch="odin-step")
    row = "| cora | 60-20-20 | gcn | odin | 0.890 / 0.840 | 0.900 / 0.800 "
    assert row + "| explained (few seeds) | odin-step 0.900 / 0.830 |  |  |" in far_table(ours, step)
    worse = measured(CELL, [(0.9, {"odin": 0.7})], switch="odin-step")
    left = "layer, layer-and-step, outputs, outputs-together"
    assert row + f"| not explained (few seeds) |  | odin-step 0.900 / 0.700 | {left} |" in far_table(ours, worse)


def test_a_cell_near_the_printed_one_needs_no_explanation():
    assert far_table(measured(CELL, [(0.9, {"odin": 0.83})])) == ""


def test_of_a_cell_that_is_answered_no_switch_is_left_to_run():
    def with_auroc(auroc):
        return markdown(
            parity_table([row for seed in range(3) for row in measured(CELL, [(0.9, {"odin": auroc})], seed)]), 3
        )

    near, far = with_auroc(0.83), with_auroc(0.7)
    assert "| cora | 60-20-20 | gcn | softmax |" not in near
    assert "| cora | 60-20-20 | gcn | softmax | 3 |  | 0 | 0 |" in far.partition("## What is left to run")[2]


def test_the_report_says_which_cells_lack_seeds():
    text = markdown(some_rows(), 2)
    assert "## What is left to run" in text and "cells with fewer than 2" in text
    switches = " | ".join(published_code().switches)
    header = f"| stream | split | backbone | head | ours | {switches} |"
    assert header in text
    assert "| cora | 60-20-20 | gcn | softmax | 1 |  | 1 | 1 | 0 |  |  |  |" in text
    assert "| cora | 60-20-20 | gcn | gdoc | 0 |  | 0 |  |  | 0 |  |  |" in text
    assert "| cora | transductive | graph-mlp | softmax | 0 |  |  |  |  |  |  |  |" in text
    enough = markdown(some_rows(), 1)
    assert "| cora | 60-20-20 | gcn | softmax | 1 |  | 1 | 1 | 0 |  |  |  |" not in enough
    assert "| cora | 60-20-20 | gcn | gdoc | 0 |  | 0 |  |  | 0 |  |  |" in enough
