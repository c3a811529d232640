"""One function decides how rows stand, for show, compare and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from lgl_bench.leaderboard.boards import open_board, pool
from lgl_bench.leaderboard.compare import testing
from lgl_bench.leaderboard.compare.boards import compare
from lgl_bench.leaderboard.folder import folder_rows
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.streams.store import write_stream
from tests.support.boards import board, growing_stream, row, run_with_a_floor


@pytest.fixture
def data(tmp_path) -> Path:
    write_stream(growing_stream(), tmp_path / "data" / "growing")
    return tmp_path / "data"


@pytest.fixture
def folder(tmp_path) -> Path:
    return run_with_a_floor(tmp_path / "run")


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
