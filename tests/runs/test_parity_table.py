from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from lgl_bench.runs.parity_jobs import Job
from lgl_bench.runs.parity_table import LEAK, parity_table, write_table
from lgl_bench.runs.parity_text import markdown
from tests.runs.parity_results import result


def test_a_row_averages_folds_then_seeds_and_its_difference_is_ours_minus_the_papers():
    expression = "odin(eps=0.05,temperature=1000.0)"
    jobs = [Job("cora", "60-20-20", "gcn", "softmax", seed) for seed in (0, 1)]
    (row,) = parity_table(
        [
            result(jobs[0], [(0.8, {expression: 0.9}), (1.0, {expression: None})]),
            result(jobs[1], [(0.9, {expression: 0.7}), (0.8, {expression: 0.9})]),
        ]
    )
    assert (row["stream"], row["detector"], row["expression"], row["seeds"]) == ("cora", "odin", expression, 2)
    assert row["accuracy_paper"] == 0.89 and row["auroc_paper"] == 0.84
    assert row["accuracy_ours"] == 0.875 and row["accuracy_difference"] == pytest.approx(-0.015)
    assert row["auroc_ours"] == 0.85 and row["auroc_difference"] == pytest.approx(0.01)
    assert row["accuracy_std"] == pytest.approx(0.05 / 2**0.5, abs=1e-4)
    assert row["auroc_std"] == pytest.approx(0.1 / 2**0.5, abs=1e-4)
    assert row["note"] == "" and row["stream_checksum"] == "abc" and row["torch"] == "1"
    assert row["fit_seconds"] == 4.0
    assert (row["commit"], row["switch"]) == ("0123456", "")


def test_seeds_whose_detector_was_written_differently_share_a_row():
    jobs = [Job("cora", "60-20-20", "gcn", "softmax", seed) for seed in (0, 1)]
    (row,) = parity_table([result(jobs[0], [(0.8, {"odin(a=1)": 0.9})]), result(jobs[1], [(0.8, {"odin": 0.7})])])
    assert row["seeds"] == 2 and row["auroc_ours"] == pytest.approx(0.8)


def test_good_is_compared_with_the_papers_good_and_says_what_it_is_over():
    job = Job("cora", "60-20-20", "gcn", "gdoc", 0)
    rows = parity_table([result(job, [(0.88, {"gdoc": 0.85, "good(gdoc,alpha=0.6)": 0.87})])])
    found = {row["detector"]: row for row in rows}
    assert set(found) == {"gdoc", "good"}
    assert found["good"]["auroc_paper"] == 0.86 and found["good"]["auroc_difference"] == pytest.approx(0.01)
    assert found["good"]["note"] == "over gdoc"
    assert found["gdoc"]["auroc_paper"] == 0.84
    assert found["gdoc"]["accuracy_std"] is None


@pytest.mark.parametrize(
    ("backbone", "split", "noted"),
    [("graph-mlp", "60-20-20", True), ("gcn", "60-20-20", False), ("graph-mlp", "planetoid", False)],
)
def test_the_printed_cells_that_come_from_a_leak_are_called_so(backbone, split, noted):
    job = Job("citeseer", split, backbone, "isomax+", 0)
    rows = parity_table([result(job, [(0.7, {"isomax+": 0.6, "good(isomax+,alpha=0.2)": 0.6})])])
    assert len(rows) == 2
    assert all((LEAK in row["note"]) == noted for row in rows)


def test_the_transductive_check_is_compared_with_graph_mlps_own_figure():
    job = Job("cora", "planetoid", "graph-mlp", "softmax", 0, transductive=True)
    (row,) = parity_table([result(job, [(0.78, {})])])
    assert (row["split"], row["accuracy_paper"]) == ("transductive", 0.778)
    assert row["accuracy_difference"] == pytest.approx(0.002)
    assert row["auroc_ours"] is None and row["auroc_paper"] is None


def test_a_stream_the_paper_does_not_have_has_no_difference():
    (row,) = parity_table([result(Job("cora-twin", "60-20-20", "gcn", "softmax", 0), [(0.9, {"odin": 0.8})])])
    assert row["accuracy_ours"] == 0.9
    assert row["accuracy_paper"] is row["accuracy_difference"] is row["auroc_difference"] is None


def some_rows():
    ours = Job("cora", "60-20-20", "gcn", "softmax", 0)
    return parity_table(
        [
            result(ours, [(0.9, {"odin": 0.8})]),
            result(replace(ours, switch="odin-step"), [(0.9, {"odin": 0.83})]),
            result(replace(ours, switch="layer"), [(0.88, {"odin": 0.82})]),
        ]
    )


def test_the_table_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "parity.csv"
    write_table(some_rows(), path)
    with path.open(newline="") as file:
        row, *others = csv.DictReader(file)
    assert [other["switch"] for other in others] == ["layer", "odin-step"] and row["switch"] == ""
    assert (row["stream"], row["accuracy_paper"], row["accuracy_ours"]) == ("cora", "0.89", "0.9")
    before = path.read_text()

    class Unwritable:
        def __str__(self):
            raise RuntimeError("broken off")

    with pytest.raises(RuntimeError, match="broken off"):
        write_table([some_rows()[0] | {"note": Unwritable()}], path)
    assert path.read_text() == before


def test_the_table_for_reading_shows_paper_ours_and_the_signed_difference():
    text = markdown(some_rows(), 1)
    assert "| cora | 60-20-20 | gcn | odin | 1 | 0123456 | 0.890 | 0.900 | +0.010 | 0.840 | 0.800 | -0.040 |" in text
    assert "torch 1" in text and "dgl 2" in text


def test_what_the_published_code_does_differently_stands_beside_ours_in_a_table_of_its_own():
    first, second = markdown(some_rows(), 1).split("## What the published code does differently")
    assert "odin-step" not in first
    row = "| cora | 60-20-20 | gcn | odin | odin-step | 1 | 0123456 | 0.890 | 0.900 | 0.900 | +0.010 "
    assert row + "| 0.840 | 0.800 | 0.830 | -0.010 |" in second


def test_the_report_says_which_cells_lack_seeds():
    text = markdown(some_rows(), 2)
    assert "## Cells with fewer than 2 seeds" in text
    header = (
        "| stream | split | backbone | head | ours | layer | odin-step | weights | graph-mlp-batches | one-epoch | lr |"
    )
    assert header in text
    assert "| cora | 60-20-20 | gcn | softmax | 1 | 1 | 1 |  |  |  |  |" in text
    assert "| cora | 60-20-20 | gcn | gdoc | 0 | 0 |  | 0 |  |  |  |" in text
    assert "| cora | transductive | graph-mlp | softmax | 0 |  |  |  |  |  |  |" in text
    enough = markdown(some_rows(), 1)
    assert "| cora | 60-20-20 | gcn | softmax | 1 | 1 | 1 |  |  |  |  |" not in enough
    assert "| cora | 60-20-20 | gcn | gdoc | 0 | 0 |  | 0 |  |  |  |" in enough
