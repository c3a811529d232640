from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.report.parity.cells import TRANSDUCTIVE, Cell
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.table import parity_table, write_table
from tests.support.measurements import CELL, measured

LEAK = "the printed cell comes from a leak in the published code; not a target"


def test_a_row_averages_folds_then_seeds_and_its_difference_is_ours_minus_the_papers():
    expression = "odin(eps=0.05,temperature=1000.0)"
    (row,) = parity_table(
        [
            *measured(CELL, [(0.8, {expression: 0.9}), (1.0, {expression: None})], seed=0),
            *measured(CELL, [(0.9, {expression: 0.7}), (0.8, {expression: 0.9})], seed=1),
        ]
    )
    assert (row.stream, row.detector, row.expression, row.seeds) == ("cora", "odin", expression, 2)
    assert row.accuracy_paper == 0.89 and row.auroc_paper == 0.84
    assert row.accuracy_ours == 0.875 and row.accuracy_difference == pytest.approx(-0.015)
    assert row.auroc_ours == 0.85 and row.auroc_difference == pytest.approx(0.01)
    assert row.accuracy_std == pytest.approx(0.05 / 2**0.5, abs=1e-4)
    assert row.auroc_std == pytest.approx(0.1 / 2**0.5, abs=1e-4)
    assert row.note == "" and row.stream_checksum == "abc" and row.torch == "1"
    assert row.fit_seconds == 4.0
    assert (row.commit, row.switch) == ("0123456", "")


def test_seeds_whose_detector_was_written_differently_share_a_row():
    (row,) = parity_table(
        [*measured(CELL, [(0.8, {"odin(a=1)": 0.9})], seed=0), *measured(CELL, [(0.8, {"odin": 0.7})], seed=1)]
    )
    assert row.seeds == 2 and row.auroc_ours == pytest.approx(0.8)


def test_good_is_compared_with_the_papers_good_and_says_what_it_is_over():
    cell = Cell("cora", "60-20-20", "gcn", "gdoc")
    rows = parity_table(measured(cell, [(0.88, {"gdoc": 0.85, "good(gdoc,alpha=0.6)": 0.87})]))
    found = {row.detector: row for row in rows}
    assert set(found) == {"gdoc", "good"}
    assert found["good"].auroc_paper == 0.86 and found["good"].auroc_difference == pytest.approx(0.01)
    assert found["good"].note == "over gdoc"
    assert found["gdoc"].auroc_paper == 0.84
    assert found["gdoc"].accuracy_std is None


@pytest.mark.parametrize(
    ("backbone", "split", "noted"),
    [("graph-mlp", "60-20-20", True), ("gcn", "60-20-20", False), ("graph-mlp", "planetoid", False)],
)
def test_the_printed_cells_that_come_from_a_leak_are_called_so(backbone, split, noted):
    cell = Cell("citeseer", split, backbone, "isomax+")
    rows = parity_table(measured(cell, [(0.7, {"isomax+": 0.6, "good(isomax+,alpha=0.2)": 0.6})]))
    assert len(rows) == 2
    assert all((LEAK in row.note) == noted for row in rows)


def test_the_transductive_check_is_compared_with_graph_mlps_own_figure():
    (row,) = parity_table(measured(Cell("cora", TRANSDUCTIVE, "graph-mlp", "softmax"), [(0.78, {})]))
    assert (row.split, row.detector, row.accuracy_paper) == ("transductive", "none", 0.778)
    assert row.accuracy_difference == pytest.approx(0.002)
    assert row.auroc_ours is None and row.auroc_paper is None


def test_a_stream_the_paper_does_not_have_has_no_difference():
    (row,) = parity_table(measured(Cell("cora-twin", "60-20-20", "gcn", "softmax"), [(0.9, {"odin": 0.8})]))
    assert row.accuracy_ours == 0.9
    assert row.accuracy_paper is row.accuracy_difference is row.auroc_difference is None


def test_a_task_without_a_value_is_counted_and_not_averaged_in():
    rows = measured(CELL, [(0.8, {"odin": 0.6}), (None, {"odin": None})])
    (row,) = parity_table([rows[0], replace(rows[1], skipped="diverged: the loss was nan")])
    assert (row.accuracy_ours, row.auroc_ours, row.skipped) == (0.8, 0.6, 1)


def test_ours_comes_before_its_switches_and_these_in_the_order_they_are_declared():
    names = list(published_code().switches)
    rows = [row for name in reversed(names) for row in measured(CELL, [(0.9, {"odin": 0.8})], switch=name)]
    found = parity_table([*rows, *measured(CELL, [(0.9, {"odin": 0.8})])])
    assert [row.switch for row in found] == ["", *names]


def test_a_table_without_a_cell_is_refused():
    with pytest.raises(UsageError, match="no cell to show"):
        parity_table([])


def test_the_table_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "parity.csv"
    rows = parity_table(
        [row for switch in ("", "odin-step", "layer") for row in measured(CELL, [(0.9, {"odin": 0.8})], switch=switch)]
    )
    write_table(rows, path)
    with path.open(newline="") as file:
        row, *others = csv.DictReader(file)
    assert [other["switch"] for other in others] == ["layer", "odin-step"] and row["switch"] == ""
    assert (row["stream"], row["accuracy_paper"], row["accuracy_ours"]) == ("cora", "0.89", "0.9")
    before = path.read_text()

    class Unwritable:
        def __str__(self):
            raise RuntimeError("broken off")

    with pytest.raises(RuntimeError, match="broken off"):
        write_table([replace(rows[0], note=Unwritable())], path)
    assert path.read_text() == before
