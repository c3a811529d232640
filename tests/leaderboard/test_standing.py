"""One function decides how rows stand: the best, the floor, and what a run folder keeps of it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.leaderboard import testing
from lgl_bench.leaderboard.compare import compare
from lgl_bench.leaderboard.floor import above_floor
from lgl_bench.leaderboard.folder import folder_rows
from lgl_bench.leaderboard.kept import NAME
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.sources import Board, open_board, pool
from lgl_bench.leaderboard.writing import write_board
from lgl_bench.report.rows import report_rows
from lgl_bench.report.sources import read_sources
from lgl_bench.streams.store import write_stream
from tests.leaderboard.boards import board, figures, growing_stream, made_up_run, row

DETECTORS = {"random": 0.8, "degree": 0.0, "msp": 0.82, "odin": 3.0, "knn": 2.97, "energy": 1.5}


@pytest.fixture
def data(tmp_path) -> Path:
    write_stream(growing_stream(), tmp_path / "data" / "growing")
    return tmp_path / "data"


@pytest.fixture
def folder(tmp_path) -> Path:
    return made_up_run(tmp_path / "run", growing_stream(), DETECTORS, noise=0.3)


def floor_of(*rows: dict[str, object]) -> list[str]:
    return above_floor(board(*rows)).tolist()


# show, compare and the page


def test_show_compare_and_the_page_agree_on_how_every_row_stands(folder, data):
    write_board(folder_rows(folder), folder / "leaderboard.csv")
    pooled = pool([open_board(folder)], testing.Tester(data))
    shown = ranked(pooled.frame, runs=pooled.runs, tester=pooled.tester).set_index("detector")
    rows = compare([open_board(folder)], within=True, metrics=["auroc_weighted"], data_dir=data).rows
    assert set(rows["test"]) == {"bootstrap"}
    verdicts = dict(zip(rows["detector"], rows["verdict"].replace("worse", "behind"), strict=True))
    assert shown["standing"].to_dict() == {"odin": "best", **verdicts}
    page = {one.detector: one for one in report_rows(read_sources([folder]), data)}
    assert shown["standing"].str.partition(" (")[0].to_dict()["knn"] in ("tie", "inconclusive")
    assert {name: one.standing for name, one in page.items()} == shown["standing"].to_dict()
    assert {name: one.rank for name, one in page.items()} == shown["rank"].to_dict()
    assert {name: one.above_floor for name, one in page.items()} == shown["above_floor"].to_dict()


def test_an_unequal_number_of_seeds_is_filled_up_on_the_side_that_has_fewer():
    # Deviation 0.1 on both sides, 0.1 apart: nine seeds on either side would do (2.121 > 2.120). One has them already.
    found = ranked(board(row(0.8, 0.1, 9, detector="a"), row(0.7, 0.1, 3, detector="b")))
    assert found["standing"].tolist() == ["best", "inconclusive (6 more seeds)"]


def test_two_seeds_leave_every_row_untested_but_an_equal_one(tmp_path):
    found = ranked(board(row(0.8, 0.1, 2, detector="a"), row(0.7, 0.1, 2, detector="b"), row(0.8, 0.1, 2)))
    assert found["standing"].tolist() == ["best", "tie", "untested"]


# what a run folder keeps


def test_what_was_tested_once_is_kept_until_the_year_rows_change(folder, data, monkeypatch):
    first = pool([open_board(folder)], testing.Tester(data)).frame
    assert (folder / NAME).is_file()

    def refuse(*given, **named):
        raise AssertionError("drawn again")

    with monkeypatch.context() as patch:
        patch.setattr(testing, "load_answers", refuse)
        # Not even the stream is asked for.
        again = pool([open_board(folder)], testing.Tester(data / "nowhere"))
        pd.testing.assert_frame_equal(again.frame, first)
        assert set(ranked(again.frame, runs=again.runs, tester=again.tester)["standing"]) > {"best", "behind"}
        with pytest.raises(AssertionError, match="drawn again"):
            pool([open_board(folder)], testing.Tester(data, draws=200))
        years = pd.read_parquet(folder / "years.parquet")
        years.assign(fit_seconds=2.0).to_parquet(folder / "years.parquet")
        with pytest.raises(AssertionError, match="drawn again"):
            pool([open_board(folder)], testing.Tester(data))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 1}'])
def test_a_kept_file_that_is_none_is_made_again(folder, data, text):
    first = pool([open_board(folder)], testing.Tester(data)).frame
    whole = (folder / NAME).read_text()
    (folder / NAME).write_text(text)
    pd.testing.assert_frame_equal(pool([open_board(folder)], testing.Tester(data)).frame, first)
    assert (folder / NAME).read_text() == whole


def test_tests_that_lacked_the_labels_are_not_kept(folder, data):
    pool([open_board(folder)], testing.Tester(data / "nowhere"))
    assert not (folder / NAME).exists()


# the floor


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
    boards = [Board("a", board(row(0.6, detector="random")), None), Board("b", board(row(0.9)), None)]
    assert pool(boards).frame["above_floor"].tolist() == ["floor", "yes"]
