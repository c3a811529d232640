from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lgl_bench.core.errors import DataError, UnknownNameError, UsageError
from lgl_bench.leaderboard import testing
from lgl_bench.leaderboard.answers import load_answers
from lgl_bench.leaderboard.compare import compare
from lgl_bench.leaderboard.published import open_world_lgl
from lgl_bench.leaderboard.sources import Board, open_board
from lgl_bench.streams.store import write_stream
from tests.leaderboard.boards import (
    board,
    figures,
    growing_stream,
    made_up_run,
    replace_answers,
    row,
    static_stream,
)


def named(frame: pd.DataFrame, name: str = "a.csv") -> Board:
    return Board(name, frame, None)


@pytest.fixture
def data(tmp_path) -> Path:
    for stream in (growing_stream(), static_stream()):
        write_stream(stream, tmp_path / "data" / stream.name)
    return tmp_path / "data"


def verdicts(found, metric: str = "auroc_weighted") -> dict[str, str]:
    rows = found.rows[found.rows["metric"] == metric]
    return dict(zip(rows["detector"], rows["verdict"], strict=True))


# tables alone


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
    def boards(others: int) -> list[Board]:
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
    about = {"protocol": "leave-class-out", "split": "planetoid", "restart": ""}
    found = compare([named(board(row(value, **about))) for value in (0.5, 0.7)]).rows
    assert found["metric"].tolist() == ["auroc_mean", "accuracy"]


def test_printed_figures_are_set_beside_ours_untested():
    about = {"stream": "cora", "protocol": "leave-class-out", "split": "60-20-20", "restart": "", "head": "isomax+"}
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


# run folders


def test_a_run_compared_with_itself_is_all_ties_from_its_answers(tmp_path, data):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"msp": 0.5, "odin": 1.0}, threshold="naive")
    shutil.copytree(folder, tmp_path / "copy")
    found = compare([open_board(folder), open_board(tmp_path / "copy")], data_dir=data, draws=200)
    assert len(found.rows) == 10 and set(found.rows["verdict"]) == {"tie"}
    assert set(found.rows["test"]) == {"bootstrap"} and set(found.rows["p"]) == {1.0}
    assert (found.rows["difference"] == 0).all() and (found.rows["note"] == "").all()


def test_a_better_method_is_better_a_noisy_copy_is_not_told_apart_and_years_are_tested_beside(tmp_path, data):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"good": 1.5, "copy": 1.47, "bad": 0.8}, noise=0.1)
    found = compare([open_board(folder)], within=True, data_dir=data, draws=500)
    said = verdicts(found)
    assert said["bad"] == "worse" and said["copy"].partition(" (")[0] in ("tie", "inconclusive")
    # All detectors share one model, so they classify alike.
    assert verdicts(found, "accuracy") == {"copy": "tie", "bad": "tie"}
    accuracy = found.rows[found.rows["metric"] == "accuracy"]
    assert set(accuracy["years"]) == {6} and set(accuracy["years_p"]) == {1.0}
    # Only three test years bring a new class: too few for the sign-flip test.
    assert set(found.rows[found.rows["metric"] == "auroc_weighted"]["years"]) == {0}


def test_answers_that_do_not_give_the_numbers_of_the_row_are_not_drawn_from(tmp_path, data):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"a": 0.5, "b": 1.0})
    path = next((folder / "answers").glob("0-5-*.parquet"))
    answers = pd.read_parquet(path)
    answers["novelty:a"] = answers["novelty:a"].to_numpy()[::-1]
    replace_answers(folder, path.stem, answers)
    rows = compare([open_board(folder)], within=True, metrics=["auroc_weighted"], data_dir=data, draws=200).rows
    assert rows["test"].tolist() == ["seeds-t"]
    assert "do not give the numbers of the row" in rows["note"].iloc[0]


def test_a_flipped_bit_in_the_answers_is_no_reason_to_compare_seeds_alone(tmp_path, data):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"a": 0.5, "b": 1.0})
    path = next((folder / "answers").glob("0-5-*.parquet"))
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(DataError, match="is damaged"):
        compare([open_board(folder)], within=True, metrics=["auroc_weighted"], data_dir=data, draws=200)


def test_without_answers_or_labels_seeds_alone_are_compared_and_it_is_said(tmp_path, data):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"a": 0.5, "b": 1.0})
    rows = compare([open_board(folder)], within=True, data_dir=tmp_path / "nowhere", draws=200).rows
    assert set(rows["test"]) == {"seeds-t"} and "unknown stream 'growing'" in rows["note"].iloc[0]
    write_stream(growing_stream(size=201), data / "growing", force=True)
    rows = compare([open_board(folder)], within=True, data_dir=data, draws=200).rows
    assert set(rows["test"]) == {"seeds-t"} and "has the checksum" in rows["note"].iloc[0]
    write_stream(growing_stream(), data / "growing", force=True)
    shutil.rmtree(folder / "answers")
    rows = compare([open_board(folder)], within=True, data_dir=data, draws=200).rows
    assert set(rows["test"]) == {"seeds-t"} and "is missing" in rows["note"].iloc[0]


def test_a_metric_that_cannot_be_drawn_is_compared_over_seeds(tmp_path, data):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"a": 0.5, "b": 1.0})
    rows = compare([open_board(folder)], within=True, metrics=["auroc_paper"], data_dir=data, draws=200).rows
    assert set(rows["test"]) == {"seeds-t"} and "auroc_paper is not drawn from answers" in rows["note"].iloc[0]


def test_two_seeds_are_not_tested(tmp_path, data):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"a": 0.5, "b": 1.0}, seeds=2)
    rows = compare([open_board(folder)], within=True, metrics=["auroc_weighted"], data_dir=data, draws=200).rows
    assert rows["verdict"].tolist() == ["untested"] and rows["seeds"].tolist() == [2]


def test_seeds_that_one_side_lacks_and_years_that_failed_are_left_out(tmp_path, data):
    stream = growing_stream()
    many = made_up_run(tmp_path / "many", stream, {"a": 0.5}, seeds=5)
    few = made_up_run(tmp_path / "few", stream, {"a": 0.5}, seeds=3)
    years = pd.read_parquet(few / "years.parquet")
    failed = (years["seed"] == 1) & (years["time"] == 5)
    years.loc[failed, "status"], years.loc[failed, ["auroc", "accuracy"]] = "failed", np.nan
    years.to_parquet(few / "years.parquet")
    rows = compare([open_board(many), open_board(few)], metrics=["accuracy"], data_dir=data, draws=200).rows
    assert rows["seeds"].tolist() == [3] and rows["test"].tolist() == ["bootstrap"]
    assert "1 tasks left out" in rows["note"].iloc[0]


def test_seeds_that_split_anew_get_the_corrected_t_test_and_a_published_split_the_bootstrap(tmp_path, data):
    for split, test in (("60-20-20", "resampled-t"), ("planetoid", "bootstrap")):
        folder = made_up_run(tmp_path / split, static_stream(), {"a": 0.3, "b": 3.0}, split=split)
        rows = compare([open_board(folder)], within=True, metrics=["auroc_weighted"], data_dir=data, draws=300).rows
        assert rows["test"].tolist() == [test] and rows["verdict"].tolist() == ["worse"]
        assert rows["years_p"].isna().all()


def test_good_is_mixed_from_stored_scores_and_a_choice_is_followed(tmp_path, data):
    stream = growing_stream()
    folder = made_up_run(tmp_path / "run", stream, {"msp": 0.5, "good(msp,alpha=0.25)": 0.5})
    for path in (folder / "answers").glob("*.parquet"):
        answers = pd.read_parquet(path)
        own, mixed = answers["novelty:msp"], answers.pop("novelty:good(msp,alpha=0.25)")
        answers["neighbour:msp"] = (mixed - 0.75 * own) / 0.25
        replace_answers(folder, path.stem, answers)
    chosen = pd.read_parquet(folder / "years.parquet")
    for name in ("good(msp,alpha=0.25)", "good(auto)"):
        years = chosen.assign(chosen="")
        is_good = years["detector"].str.startswith("good")
        years.loc[is_good, "detector"] = name
        if name == "good(auto)":
            years.loc[is_good, "chosen"] = "good(msp,alpha=0.25)"
        years.to_parquet(folder / "years.parquet")
        rows = compare([open_board(folder)], within=True, metrics=["auroc_weighted"], data_dir=data, draws=200).rows
        assert rows["test"].tolist() == ["bootstrap"] and rows["note"].tolist() == [""]


def test_the_same_seed_of_the_draws_gives_the_same_interval(tmp_path, data):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"a": 0.5, "b": 1.0})
    ends = [
        compare([open_board(folder)], within=True, data_dir=data, draws=200, seed=seed).rows["lo"].iloc[0]
        for seed in (0, 0, 1)
    ]
    assert ends[0] == ends[1] != ends[2]


def test_runs_without_a_seed_in_common_are_not_tested(tmp_path, data):
    stream = growing_stream()
    a = made_up_run(tmp_path / "a", stream, {"x": 0.5}, seeds=3)
    b = made_up_run(tmp_path / "b", stream, {"x": 1.5}, seeds=3)
    years = pd.read_parquet(b / "years.parquet")
    years.assign(seed=years["seed"] + 10).to_parquet(b / "years.parquet")
    rows = compare([open_board(a), open_board(b)], metrics=["auroc_weighted"], data_dir=data, draws=200).rows
    assert rows["verdict"].tolist() == ["untested"] and rows["difference"].iloc[0] > 0.1
    assert "0 paired seeds" in rows["note"].iloc[0]


def test_a_run_of_which_nothing_has_ended_is_refused(tmp_path):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"x": 0.5}, seeds=0)
    with pytest.raises(DataError, match="has no rows yet"):
        open_board(folder)


@pytest.mark.parametrize("static", [True, False])
def test_folds_of_a_published_split_are_drawn_together_and_years_apart(tmp_path, data, monkeypatch, static):
    seen = []

    def spy(*given, **named):
        seen.append(load_answers(*given, **named))
        return seen[-1]

    monkeypatch.setattr(testing, "load_answers", spy)
    stream = static_stream() if static else growing_stream()
    folder = made_up_run(tmp_path / "run", stream, {"a": 0.5, "b": 1.0})
    compare([open_board(folder)], within=True, data_dir=data, draws=100)
    cuts = seen[0].cuts
    if static:
        # One fold a class, all of the same test vertices; drawing within classes keeps new and known apart in each.
        assert len(cuts) == 7 and {cut.block for cut in cuts} == {0}
        assert all(np.array_equal(cut.strata, cuts[0].strata) for cut in cuts) and len(set(cuts[0].strata)) > 2
    else:
        assert [cut.block for cut in cuts] == list(range(6))
        assert all(np.array_equal(cut.strata, cut.new) for cut in cuts)
