from __future__ import annotations

import pytest

from lgl_bench.leaderboard.boards import open_board
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.leaderboard.over_base import against_base, over_base
from tests.support.report_boards import board_of, write_run, year_frame

DETECTORS = ["good(msp,alpha=0.5)", "msp", "good(odin(eps=0.1),alpha=0.5)"]


def test_good_is_set_beside_the_detector_it_wraps_with_the_same_backbone():
    frame = board_of(year_frame(detectors=DETECTORS)).reset_index(drop=True)
    pairs = against_base(frame)
    names = [tuple(frame.loc[[a, b], "detector"]) for a, b in zip(pairs.a, pairs.b, strict=True)]
    assert names == [("msp", "good(msp,alpha=0.5)")] * 2  # odin itself was not run
    assert all(frame.loc[a, "backbone"] == frame.loc[b, "backbone"] for a, b in zip(pairs.a, pairs.b, strict=True))
    assert set(frame.loc[pairs.b, "threshold"]) == {""}


def test_rows_of_a_table_have_the_difference_of_their_means_and_no_interval():
    frame = board_of(year_frame(detectors=DETECTORS, backbones=["gcn"], thresholds=[""])).reset_index(drop=True)
    ((row, found),) = over_base(frame).items()
    means = frame["auroc_weighted_mean"]
    base = frame.index[frame["detector"] == "msp"][0]
    assert found.value == pytest.approx(means[row] - means[base]) and found.base == "msp"
    assert found.lo is None and found.hi is None and not found.paired and found.verdict == "better"


def test_rows_of_a_run_folder_have_the_paired_difference_with_its_interval(tmp_path):
    years = year_frame(detectors=DETECTORS[:2], backbones=["gcn"], thresholds=[""])
    folder = write_run(tmp_path / "run", years)
    board = open_board(folder)
    ((_, found),) = over_base(board.frame.assign(board=0), [Run(folder)]).items()
    assert found.paired and found.lo is not None and found.hi is not None
    assert found.lo < found.value < found.hi and found.lo > 0 and found.verdict == "better"
    # The mean over seeds of the paired differences of the test year that has new vertices.
    test = years[(years["role"] == "test") & (years["n_new"] > 0)]
    test = test.pivot(index="seed", columns="detector", values="auroc")
    assert found.value == pytest.approx((test[DETECTORS[0]] - test["msp"]).mean())
