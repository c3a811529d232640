from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.paper_tables.ours import PARITY, OurCell, OurNumbers
from lgl_bench.report.parity.measured import Measurement
from lgl_bench.report.parity.printed import PrintedCell, printed_cells
from tests.support.measurements import CELL, measured
from tests.support.paper_boards import GDOC, ODIN, board_row, write_rows

PRINTED = printed_cells()
NAIVE = ("cora", "60-20-20", "best", "best")


def printed(place: tuple[str, ...], threshold: str = "") -> PrintedCell:
    (one,) = [one for one in PRINTED if one.place == place and one.threshold.partition("(")[0] == threshold]
    return one


def numbers(*paths: Path, parity: list[Measurement] | None = None) -> OurNumbers:
    return OurNumbers(PRINTED, read_sources(paths) if paths else [], parity or [])


def seeds_of_parity(count: int) -> list[Measurement]:
    return [row for seed in range(count) for row in measured(CELL, [(0.88, {"odin": 0.85})], seed=seed)]


def test_a_row_of_a_board_stands_with_its_means_deviations_seeds_and_commit(tmp_path):
    path = write_rows(tmp_path / "board.csv", board_row(ODIN, {"accuracy": 0.9, "auroc": 0.82}, seeds=4))
    found = numbers(path).standing(printed(ODIN))
    assert isinstance(found, OurCell)
    shown = [(one.metric, one.paper, one.ours, one.std, one.difference) for one in found.figures]
    assert shown == [("accuracy", 0.89, 0.9, 0.01, 0.01), ("auroc", 0.84, 0.82, 0.01, -0.02)]
    assert (found.seeds, found.commit, found.source) == (4, "fedcba9", "board.csv")


def test_seeds_are_the_fewest_behind_any_printed_figure(tmp_path):
    row = board_row(ODIN, {"accuracy": 0.9, "auroc": 0.82}, seeds=4, auroc_paper_n_seeds=2)
    found = numbers(write_rows(tmp_path / "board.csv", row)).standing(printed(ODIN))
    assert found is not None and found.seeds == 2


@pytest.mark.parametrize(("seeds", "source"), [(3, PARITY), (4, "board.csv"), (2, PARITY)])
def test_the_number_with_more_seeds_stands_and_a_measurement_if_they_have_equally_many(tmp_path, seeds, source):
    path = write_rows(tmp_path / "board.csv", board_row(ODIN, {"accuracy": 0.9, "auroc": 0.82}, seeds=seeds))
    found = numbers(path, parity=seeds_of_parity(3)).standing(printed(ODIN))
    assert found is not None and (found.source, found.seeds) == (source, max(seeds, 3))


@pytest.mark.parametrize(
    "changes",
    [
        {"stream": "cora-twin"},
        {"stream": "acl-anthology"},
        {"split": "planetoid"},
        {"track": "transductive"},
        {"select": "t1"},
        {"preset": "published-layer"},
        {"detector": "odin(eps=0.08,temperature=1000.0)"},
        {"threshold": "never"},
        {"trust": "printed", "stream_checksum": ""},
        {"label_delay": "1"},
        {"restart": "cold"},
    ],
)
def test_a_row_that_is_another_computation_never_stands_in_a_cell_and_is_not_counted(tmp_path, changes):
    path = write_rows(tmp_path / "board.csv", board_row(ODIN, {"accuracy": 0.9, "auroc": 0.82}, **changes))
    found = numbers(path)
    assert found.standing(printed(ODIN)) is None and not found.left_out
    assert all(found.standing(one) is None for one in PRINTED if one.cell.split == "60-20-20")


def test_a_row_of_another_budget_is_counted_and_never_stands(tmp_path):
    path = write_rows(
        tmp_path / "board.csv",
        board_row(ODIN, {"accuracy": 0.9, "auroc": 0.82}, budget="quick"),
        board_row(GDOC, {"accuracy": 0.9, "auroc": 0.82}),
    )
    found = numbers(path)
    assert found.standing(printed(ODIN)) is None and found.standing(printed(GDOC)) is not None
    assert found.left_out == {"quick": 1}


def test_a_threshold_stands_on_the_model_with_the_best_auroc_of_ours(tmp_path):
    threshold = printed(NAIVE, "naive").threshold
    rows = [
        board_row(place, {"accuracy": 0.9, "auroc": auroc, "micro_f1": f1}, threshold=threshold)
        for place, auroc, f1 in ((ODIN, 0.8, 0.5), (GDOC, 0.9, 0.15))
    ]
    found = numbers(write_rows(tmp_path / "board.csv", *rows)).standing(printed(NAIVE, "naive"))
    assert found is not None and (found.backbone, found.expression) == ("gcn", "gdoc")
    assert [(one.paper, one.ours) for one in found.figures] == [(0.143, 0.15)]


def test_a_threshold_on_a_detector_that_the_paper_does_not_have_never_stands(tmp_path):
    threshold = printed(NAIVE, "naive").threshold
    row = board_row(ODIN, {"auroc": 0.99, "micro_f1": 0.15}, threshold=threshold, detector="msp")
    assert numbers(write_rows(tmp_path / "board.csv", row)).standing(printed(NAIVE, "naive")) is None


def test_switches_are_kept_apart_from_ours():
    switched = measured(CELL, [(0.9, {"odin": 0.7})], switch="layer")
    found = numbers(parity=switched)
    assert found.standing(printed(ODIN)) is None
    assert [one.switch for one in found.switched(printed(ODIN))] == ["layer"]


def test_a_measurement_of_a_twin_stands_nowhere():
    twins = [replace(row, stream="cora-twin") for row in seeds_of_parity(3)]
    found = numbers(parity=twins)
    assert all(found.standing(one) is None for one in PRINTED)
