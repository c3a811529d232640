from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.leaderboard.boards import OpenedBoard
from lgl_bench.leaderboard.compare.boards import compare
from lgl_bench.leaderboard.published import open_world_lgl
from lgl_bench.streams.store import write_stream
from tests.support.boards import (
    board,
    figures,
    growing_stream,
    row,
    static_stream,
)


def named(frame: pd.DataFrame, name: str = "a.csv") -> OpenedBoard:
    return OpenedBoard(name, frame, None)


@pytest.fixture
def data(tmp_path) -> Path:
    for stream in (growing_stream(), static_stream()):
        write_stream(stream, tmp_path / "data" / stream.name)
    return tmp_path / "data"


def verdicts(found, metric: str = "auroc_weighted") -> dict[str, str]:
    rows = found.rows[found.rows["metric"] == metric]
    return dict(zip(rows["detector"], rows["verdict"], strict=True))


def test_tables_are_compared_by_their_intervals_over_seeds_and_say_so():
    a = board(row(0.7, detector="same"), row(0.7, detector="up"), row(0.7, detector="down"))
    b = board(row(0.701, detector="same"), row(0.8, detector="up"), row(0.6, detector="down"))
    found = compare([named(a), named(b)])
    assert verdicts(found) == {"same": "tie", "up": "better", "down": "worse"}
    assert set(found.rows["test"]) == {"welch"}
    up = found.rows[(found.rows["detector"] == "up") & (found.rows["metric"] == "auroc_weighted")].iloc[0]
    assert up["difference"] == pytest.approx(0.1) and up["lo"] < 0.1 < up["hi"]


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_table_compared_with_itself_is_all_ties(seeds):
    frame = board(
        row(0.7, None if seeds < 2 else 0.01, seeds), row(0.6, None if seeds < 2 else 0.0, seeds, detector="x")
    )
    found = compare([named(frame), named(frame)])
    assert len(found.rows) == 4 and set(found.rows["verdict"]) == {"tie"}
    assert found.refused.empty and found.only.empty


def test_one_seed_with_another_value_is_not_tested():
    found = compare([named(board(row(0.7, None, 1))), named(board(row(0.9, None, 1)))])
    assert set(found.rows["verdict"]) == {"untested"} and found.rows["lo"].isna().all()


def test_less_is_better_where_it_is():
    a, b = (board(row(**figures("fpr95", value, 0.01, 3))) for value in (0.5, 0.3))
    assert compare([named(a), named(b)], metrics=["fpr95"]).rows["verdict"].tolist() == ["better"]


def test_tables_of_seeds_that_split_anew_need_more_of_a_difference():
    for split, verdict in (("temporal", "better"), ("60-20-20", "inconclusive (1 more seed)")):
        a, b = (board(row(value, split=split)) for value in (0.700, 0.728))
        assert verdicts(compare([named(a), named(b)])) == {"msp": verdict}


def test_p_values_are_adjusted_within_stream_and_metric():
    # One row alone is told apart at this distance; among twenty that do not differ it is not.
    def boards(others: int) -> list[OpenedBoard]:
        rest = [row(0.7, detector=f"d{i}") for i in range(others)]
        elsewhere = [row(0.7, stream=f"s{i}") for i in range(20)]
        return [named(board(row(0.700), *rest, *elsewhere)), named(board(row(0.730), *rest, *elsewhere))]

    assert compare(boards(0)).rows.iloc[0]["verdict"] == "better"
    many = compare(boards(20)).rows.iloc[0]
    assert many["verdict"].startswith("inconclusive") and many["p_holm"] == pytest.approx(21 * many["p"])


def test_what_is_undefined_says_why_and_what_is_refused_too():
    a = board(row(None), row(detector="x"), row(detector="y"))
    b = board(row(), row(detector="x", budget="paper"), row(detector="z"))
    found = compare([named(a), named(b)])
    assert set(found.rows["verdict"]) == {"undefined"} and set(found.rows["note"]) == {"nobody looked"}
    assert found.refused["why"].tolist() == ["budget quick against paper"]
    assert found.only[["detector", "board"]].values.tolist() == [["y", 0], ["z", 1]]


def test_every_further_board_is_set_against_the_first():
    frames = [board(row(value)) for value in (0.7, 0.8, 0.6)]
    found = compare([named(frame) for frame in frames], metrics=["auroc_weighted"])
    assert found.rows[["a", "b", "verdict"]].values.tolist() == [[0, 1, "better"], [0, 2, "worse"]]


def test_rows_with_a_threshold_are_compared_by_their_decisions():
    a, b = (
        board(row(threshold="naive", **figures("mcc", value, 0.01, 3), **figures("recall_new", 0.1, 0.01, 3)))
        for value in (0.5, 0.7)
    )
    found = compare([named(a), named(b)]).rows
    verdicts = [["mcc", "better"], ["recall_new", "tie"], ["false_alarm_rate", "undefined"]]
    assert found[["metric", "verdict"]].values.tolist() == verdicts


def test_static_rows_are_compared_by_the_plain_mean_over_classes():
    about = {"protocol": "leave-class-out", "split": "planetoid", "strategy": "", "restart": ""}
    found = compare([named(board(row(value, **about))) for value in (0.5, 0.7)]).rows
    assert found["metric"].tolist() == ["auroc_mean", "accuracy"]


def test_printed_figures_are_set_beside_ours_untested():
    about = {
        "stream": "cora",
        "protocol": "leave-class-out",
        "split": "60-20-20",
        "strategy": "",
        "restart": "",
        "head": "isomax+",
    }
    mine = board(row(detector="isomax+", **about, **figures("auroc_paper", 0.80, 0.01, 3)))
    found = compare([named(open_world_lgl(), "printed"), named(mine)])
    rows = found.rows.set_index("metric")
    assert set(rows["test"]) == {"printed"} and set(rows["verdict"]) == {"untested"}
    assert rows.loc["auroc_paper", "difference"] == pytest.approx(0.80 - 0.78) and rows["lo"].isna().all()
    assert list(rows.index) == ["accuracy", "auroc_paper"]
    assert found.refused.empty


def test_within_sets_every_row_against_the_best_of_its_group():
    frame = board(row(0.8, detector="best"), row(0.6, detector="far"), row(0.799, detector="near"), row(stream="alone"))
    found = compare([named(frame)], within=True)
    assert verdicts(found) == {"far": "worse", "near": "tie"}
    assert set(found.rows["against"]) == {"gcn best"} and found.only["stream"].tolist() == ["alone"]


def test_wrong_requests_are_refused():
    frame = named(board(row()))
    with pytest.raises(UsageError, match="--within"):
        compare([frame])
    with pytest.raises(UnknownNameError, match="did you mean 'auroc_mean'"):
        compare([frame, frame], metrics=["auroc_men"])
    with pytest.raises(UnknownNameError, match="did you mean 'dblp-easy'"):
        compare([frame, frame], streams=["dblp-eassy"])
    with pytest.raises(UsageError, match="--draws 5"):
        compare([frame, frame], draws=5)
