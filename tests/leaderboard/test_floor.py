from __future__ import annotations

from pathlib import Path

import pytest

from lgl_bench.leaderboard.boards import OpenedBoard, open_board, pool
from lgl_bench.leaderboard.compare import testing
from lgl_bench.leaderboard.floor import above_floor
from lgl_bench.streams.store import write_stream
from tests.support.boards import board, figures, growing_stream, row, run_with_a_floor


@pytest.fixture
def data(tmp_path) -> Path:
    write_stream(growing_stream(), tmp_path / "data" / "growing")
    return tmp_path / "data"


@pytest.fixture
def folder(tmp_path) -> Path:
    return run_with_a_floor(tmp_path / "run")


def floor_of(*rows: dict[str, object]) -> list[str]:
    return above_floor(board(*rows)).tolist()


def test_a_row_is_above_the_floor_if_it_is_higher_than_the_best_floor_row_and_told_apart():
    rows = [
        row(0.60, detector="degree"),
        row(0.55, detector="random", backbone="mlp", head="gdoc"),
        row(0.70, detector="clear"),
        row(0.61, detector="within noise"),
        row(0.40, detector="below"),
        row(0.70, None, 1, detector="one seed"),
        row(0.60, detector="equal"),
    ]
    assert floor_of(*rows) == ["floor", "floor", "yes", "no", "no", "untested", "no"]


def test_the_floor_is_that_of_the_same_group():
    rows = [row(0.6, detector="random"), row(0.9), row(0.9, stream="other"), row(0.9, budget="paper")]
    assert floor_of(*rows) == ["floor", "yes", "untested", "untested"]


def test_only_the_outer_name_makes_a_floor_row():
    assert floor_of(row(0.6, detector="random"), row(0.9, detector="good(random,alpha=0.5)")) == ["floor", "yes"]


def test_holm_counts_every_row_of_the_group_against_the_floor():
    # t = 3 with 4 degrees of freedom: p = 0.040 alone, 0.080 of two.
    close = row(0.6245, detector="a")
    assert floor_of(row(0.60, detector="random"), close) == ["floor", "yes"]
    beside = row(0.601, detector="b")
    assert floor_of(row(0.60, detector="random"), close, beside) == ["floor", "no", "no"]


def test_a_row_with_a_threshold_takes_its_detectors_value_whatever_its_track():
    decided = {"threshold": "naive(delta=0.1)", **figures("mcc", 0.5, 0.01, 3)}
    rows = [
        row(0.6, detector="random"),
        row(0.9),
        row(0.5, detector="odin"),
        row(0.9, **decided),
        row(0.5, detector="odin", **decided),
        row(0.9, threshold="oracle", track="upper bound"),
        row(0.9, detector="never run alone", **decided),
    ]
    assert floor_of(*rows) == ["floor", "yes", "no", "yes", "no", "yes", "untested"]


def test_incomplete_rows_are_no_floor_and_are_not_tested():
    failed = {"failed_years": 1, "failed_seeds": 1}
    assert floor_of(row(0.95, detector="random", **failed), row(0.9)) == ["floor", "untested"]
    assert floor_of(row(0.5, detector="random"), row(0.9, **failed)) == ["floor", "untested"]


def test_what_a_table_says_of_its_rows_stays_and_printed_rows_say_nothing():
    rows = [row(0.6, detector="random"), row(0.9, above_floor="no"), row(0.9, detector="x", above_floor="untested")]
    assert floor_of(*rows) == ["floor", "no", "yes"]
    assert floor_of(row(0.9, trust="printed", stream_checksum="", budget_version=0)) == [""]


def test_a_run_folder_is_held_against_the_floor_with_its_answers(folder, data):
    found = pool([open_board(folder)], testing.Tester(data)).frame.set_index("detector")["above_floor"]
    assert found.to_dict() == {
        "odin": "yes",
        "random": "floor",
        "degree": "floor",
        "msp": "no",
        "energy": "yes",
        "knn": "yes",
    }


def test_the_floor_of_one_board_holds_for_the_rows_of_another():
    boards = [OpenedBoard("a", board(row(0.6, detector="random")), None), OpenedBoard("b", board(row(0.9)), None)]
    assert pool(boards).frame["above_floor"].tolist() == ["floor", "yes"]
