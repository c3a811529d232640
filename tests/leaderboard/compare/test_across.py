from __future__ import annotations

import pandas as pd

from lgl_bench.leaderboard.boards import OpenedBoard
from lgl_bench.leaderboard.compare.boards import compare
from tests.support.boards import (
    board,
    row,
)


def named(frame: pd.DataFrame, name: str = "a.csv") -> OpenedBoard:
    return OpenedBoard(name, frame, None)


def streams_of(count: int, better: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    a = board(*(row(0.5 + i / 100, stream=f"s{i}") for i in range(count)))
    return a, board(*(row(0.5 + i / 100 + better, stream=f"s{i}") for i in range(count)))


def test_fewer_than_six_streams_are_ranked_and_not_tested():
    a, b = streams_of(5, 0.1)
    (across,) = compare([named(a), named(b)]).across
    assert across["reason"] == "too few streams: 5, and 6 are needed" and not across["tested"]
    assert across["ranks"] == [
        {"method": "gcn msp [2]", "mean_rank": 1.0},
        {"method": "gcn msp [1]", "mean_rank": 2.0},
    ]


def test_a_name_that_stands_for_several_rows_is_not_ranked_over_streams():
    twice = [row(0.5 + eps, detector=f"odin(eps={eps})", stream=stream) for eps in (0.1, 0.2) for stream in "st"]
    (across,) = compare([named(board(*twice, row(0.5, stream="s"), row(0.5, stream="t")))], within=True).across
    assert [entry["method"] for entry in across["ranks"]] == ["gcn msp"]


def test_from_six_streams_on_methods_are_tested_over_them():
    a, b = streams_of(6, 0.1)
    (across,) = compare([named(a), named(b)]).across
    assert across["tested"] and across["wilcoxon"][0]["p_holm"] == 2 / 64 and across["bars"] == []
