from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.boards import merge, open_board
from lgl_bench.leaderboard.build import board_rows
from lgl_bench.leaderboard.folder import folder_rows
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.problems import problems
from lgl_bench.leaderboard.table.schema import HEADLINE
from lgl_bench.leaderboard.table.write import write_board
from tests.support.boards import ABOUT, board, growing_stream, made_up_run, row

COMMON = ("suite", "suite_version", "stream_checksum", "budget", "budget_version", "select")
PLACED = ("protocol", "split", "strategy", "history", "restart", "label_delay", "track")
CUT = {name: ABOUT[name] for name in (*COMMON, *PLACED)}


def year(time: int, seed: int = 0, **changes: object) -> dict[str, object]:
    about: dict[str, object] = {
        "key": "k",
        "stream": "s",
        "backbone": "gcn",
        "head": "softmax",
        "preset": "paper",
    } | CUT
    about |= {"detector": "msp", "threshold": "", "seed": seed, "time": time, "fold": "", "role": "test"}
    about |= {"fit_seconds": 2.0, "peak_memory_mb": 100.0 + time, "status": "ok", "reason": "", "n_new": 10}
    return about | {"accuracy": 0.5, "accuracy_reason": "", "auroc": 0.5, "auroc_reason": ""} | changes


def built(*years: dict[str, object]) -> pd.DataFrame:
    return board_rows(pd.DataFrame(list(years)))


def test_years_are_weighted_by_their_new_vertices_worked_by_hand():
    found = built(
        year(0, role="validation", auroc=0.1),
        year(1, auroc=0.6, n_new=30),
        year(2, auroc=0.9, n_new=3),
        year(3, auroc=None, n_new=0, auroc_reason="no new vertex"),
    ).iloc[0]
    assert found["auroc_weighted_mean"] == pytest.approx((0.6 * 30 + 0.9 * 3) / 33)
    assert found["auroc_mean_mean"] == pytest.approx(0.6)  # years with five new vertices
    assert found["auroc_paper_mean"] == pytest.approx((0.1 + 0.6 + 0.9) / 3)  # t1 included
    assert [found[f"auroc_{kind}_n_years"] for kind in ("weighted", "mean", "paper")] == [2, 1, 3]
    assert found["accuracy_n_years"] == 3 and found["accuracy_n_seeds"] == 1


def test_seeds_give_mean_deviation_and_students_interval_from_three_on():
    values = [0.5, 0.6, 0.8]
    found = built(*(year(1, seed, accuracy=value) for seed, value in enumerate(values))).iloc[0]
    # Mean 0.6333, deviation 0.15275; t(0.975, 2) = 4.30265, over the root of three seeds.
    half = 4.302652729911275 * 0.15275252316519466 / 3**0.5
    assert found["accuracy_mean"] == pytest.approx(1.9 / 3) and found["accuracy_std"] == pytest.approx(0.1527525)
    assert found["accuracy_lo"] == pytest.approx(1.9 / 3 - half)
    assert 1.9 / 3 + half > 1 and found["accuracy_hi"] == 1.0  # cut to the range of the metric
    two = built(*(year(1, seed, accuracy=value) for seed, value in enumerate(values[:2]))).iloc[0]
    assert two["accuracy_std"] > 0 and np.isnan(two["accuracy_lo"])


def test_the_area_is_over_years_and_folds_have_none():
    years = built(year(2000, auroc=1.0), year(2001, auroc=0.0), year(2004, auroc=1.0)).iloc[0]
    assert years["auroc_area_mean"] == pytest.approx((0.5 + 1.5) / 4) and years["auroc_area_n_years"] == 3
    folds = built(year(0, fold="1", auroc=0.8), year(0, fold="2", auroc=0.6)).iloc[0]
    assert np.isnan(folds["auroc_area_mean"]) and folds["auroc_area_reason"] == "tasks are folds, not years"


def test_what_is_undefined_says_why():
    found = built(
        year(1, auroc=None, n_new=0, auroc_reason="no new vertex", accuracy=None, accuracy_reason="nobody known"),
        year(1, detector="bad", status="failed", reason="no luck", accuracy=None, auroc=None),
        year(1, threshold="naive", micro_f1=None, micro_f1_reason="no scored vertex"),
    ).set_index(["detector", "threshold"])
    plain, bad, decided = (found.loc[key] for key in (("msp", ""), ("bad", ""), ("msp", "naive")))
    assert plain["auroc_weighted_reason"] == plain["auroc_paper_reason"] == "no new vertex"
    assert plain["auroc_mean_reason"] == "no year with 5 new vertices"
    assert plain["accuracy_reason"] == "nobody known" and plain["accuracy_n_seeds"] == 0
    assert plain["mcc_reason"] == plain["open_f1_reason"] == "no threshold"
    assert bad["accuracy_reason"] == bad["mcc_reason"] == "no luck"
    assert decided["micro_f1_reason"] == "no scored vertex"
    assert not problems(found.reset_index(), list(HEADLINE))


BAD = {"status": "diverged", "reason": "nan", "accuracy": None, "auroc": None, "n_new": None}


def test_a_failed_year_is_no_part_of_the_mean_and_is_counted():
    found = built(year(1, accuracy=0.4), year(2, **BAD)).iloc[0]
    assert found["accuracy_mean"] == 0.4 and found["accuracy_n_years"] == 1 and found["accuracy_reason"] == ""
    assert found["failed_years"] == found["failed_seeds"] == 1


def test_two_of_three_seeds_that_diverge_leave_the_row_without_a_rank_below_the_others():
    whole = [year(time, seed, detector="whole", auroc=0.3) for seed in range(3) for time in (1, 2, 3)]
    bad = [year(time, seed, auroc=0.9) for seed in range(3) for time in (1, 2, 3)]
    bad = [row | BAD if row["seed"] and row["time"] == 2 else row for row in bad]
    found = ranked(built(*bad, *whole)).set_index("detector")
    assert found.index.tolist() == ["whole", "msp"]
    assert found.loc["whole", "rank"] == 1 and found.loc["whole", "standing"] == "best"
    assert pd.isna(found.loc["msp", "rank"]) and found.loc["msp", "standing"] == "incomplete"
    assert found.loc["msp", "unranked_reason"] == "incomplete: 1 test years or folds failed with 2 seeds"
    assert found.loc["msp", "auroc_weighted_n_years"] == 2  # the least over seeds
    assert found.loc["msp", "auroc_weighted_n_seeds"] == 3


def test_a_method_that_diverged_in_all_but_its_best_year_does_not_rise():
    values = [0.2, 0.3, 0.45]
    steady = [year(time, seed, detector="steady", auroc=0.4) for seed in range(3) for time in range(3)]
    whole = [year(time, seed, auroc=value) for seed in range(3) for time, value in enumerate(values)]
    lucky = [row | BAD if row["seed"] == 2 and row["time"] < 2 else row for row in whole]
    for rows, ranks in ((whole, [1, 2]), (lucky, [1, None])):
        found = ranked(built(*rows, *steady))
        assert found["detector"].tolist() == ["steady", "msp"]
        assert [None if pd.isna(rank) else rank for rank in found["rank"]] == ranks
    assert found["auroc_weighted_mean"].iloc[1] > 0.32 and found["auroc_weighted_n_years"].iloc[1] == 1


def test_a_skipped_task_is_nobodys_failure_and_a_year_only_some_seeds_have_is():
    skipped = {"status": "skipped", "reason": "no labels", "accuracy": None, "auroc": None, "n_new": None}
    found = built(year(1), year(2, **skipped)).iloc[0]
    assert found["failed_years"] == found["failed_seeds"] == 0
    found = built(year(1), year(2), year(1, seed=1)).iloc[0]
    assert found["failed_years"] == found["failed_seeds"] == 1


def test_where_a_fit_failed_nothing_was_decided_on_it_either():
    # A failed fit has one row, without a threshold.
    found = built(year(1), year(1, threshold="t"), year(2, **BAD)).set_index("threshold")
    assert found["failed_years"].to_dict() == {"": 1, "t": 1}
    found = built(year(1), year(1, threshold="t"), year(2), year(2, threshold="t", **BAD)).set_index("threshold")
    assert found["failed_years"].to_dict() == {"": 0, "t": 1}


def test_new_vertices_are_counted_in_test_years_only():
    found = built(year(0, role="validation", n_new=7), year(1, n_new=3), year(2, n_new=4), year(1, 1, n_new=3)).iloc[0]
    assert found["n_new"] == 5  # 7 with one seed, 3 with the other


def test_folds_count_alike_however_few_vertices_they_have():
    folds = [year(0, fold=name, auroc=auroc, n_new=n_new) for name, auroc, n_new in (("a", 0.9, 2), ("b", 0.5, 98))]
    found = built(*(row | {"protocol": "leave-class-out", "split": "planetoid"} for row in folds)).iloc[0]
    assert found["auroc_mean_mean"] == pytest.approx(0.7) and found["auroc_mean_n_years"] == 2
    assert found["auroc_weighted_mean"] == pytest.approx(0.508)


def test_seeds_that_split_anew_have_a_wider_interval():
    rows = [year(0, seed, fold="a", accuracy=value) for seed, value in enumerate((0.50, 0.51, 0.52))]
    plain, anew = (built(*(row | {"split": split} for row in rows)).iloc[0] for split in ("planetoid", "60-20-20"))
    half = 4.302652729911275 * 0.01 / 3**0.5
    assert plain["accuracy_hi"] - 0.51 == pytest.approx(half)
    assert anew["accuracy_hi"] - 0.51 == pytest.approx(half * (1 + 3 / 3) ** 0.5)  # 1/3 + 20/60 instead of 1/3
    assert plain["interval"] == anew["interval"] == "student"


def test_a_validation_fold_of_a_static_graph_is_no_part_of_any_figure():
    found = built(year(0, fold="1", auroc=0.8), year(0, fold="1/2", role="validation", auroc=0.1)).iloc[0]
    assert found["auroc_paper_mean"] == 0.8


def test_a_metric_the_year_rows_bring_along_is_kept():
    found = built(year(1, delay=3.0, delay_reason=""), year(2, delay=4.0, delay_reason="")).iloc[0]
    assert found["delay_mean"] == 3.5 and found["delay_n_years"] == 2


def test_swept_parameters_seconds_memory_and_choices_are_in_the_row():
    swept = {"backbone": "gcn(beta=1)", "tuning_trials": 7, "device": "cuda"}
    found = built(
        year(1, **swept, chosen="odin"),
        year(2, **swept, chosen="msp"),
        year(3, accuracy=0.1, tuning_trials=0, device="cpu", chosen=""),
        year(1, detector="auto", tuning_trials=0, device="cpu", chosen="odin"),
        year(2, detector="auto", tuning_trials=0, device="cpu", chosen="odin"),
    )
    assert list(found[found["detector"] == "auto"]["chosen"]) == ["odin"]
    found = found[found["detector"] != "auto"].set_index("backbone")
    assert found.loc["gcn(beta=1)", "chosen"] == "1: odin; 2: msp" and found.loc["gcn", "chosen"] == ""
    assert found.loc["gcn(beta=1)", "tuning_trials"] == 7 and list(found["device"]) == ["cuda", "cpu"]
    assert found.loc["gcn(beta=1)", "fit_seconds"] == 4.0 and found.loc["gcn(beta=1)", "peak_memory_mb"] == 102.0
    assert found.loc["gcn", "preset"] == "paper" and found.loc["gcn", "stream_checksum"] == "c" * 64


def test_the_best_comes_first_and_a_threshold_after():
    found = built(
        year(1, detector="a", auroc=0.2),
        year(1, detector="b", auroc=0.9),
        year(1, detector="b", threshold="t", auroc=0.9),
    )
    assert found[["detector", "threshold"]].values.tolist() == [["b", ""], ["a", ""], ["b", "t"]]


def test_a_run_folder_gives_rows_that_can_be_written_and_read(tmp_path):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"msp": 0.5, "odin": 1.0})
    opened = open_board(folder)
    assert opened.folder == folder and list(opened.frame["detector"]) == ["odin", "msp"]
    assert set(opened.frame["history"]) == {"all"} and set(opened.frame["restart"]) == {"warm"}
    write_board(opened.frame, tmp_path / "board.csv")
    pd.testing.assert_frame_equal(open_board(tmp_path / "board.csv").frame, opened.frame, check_dtype=False)


def test_building_again_keeps_when_and_with_what_the_run_was_made(tmp_path):
    folder = made_up_run(tmp_path / "run", growing_stream(), {"msp": 0.5})
    made = board(row(created_at="2026-01-02T03:04:05+00:00", torch="2.13", git_commit="abc"))
    write_board(made, folder / "leaderboard.csv")
    found = folder_rows(folder).iloc[0]
    assert found["created_at"] == "2026-01-02T03:04:05+00:00" and found["torch"] == "2.13"
    assert found["git_commit"] == "abc"


def test_a_folder_without_a_run_or_with_a_damaged_one_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no run"):
        (tmp_path / "years.parquet").write_bytes(b"")
        folder_rows(tmp_path)
    folder = made_up_run(tmp_path / "run", growing_stream(), {"msp": 0.5})
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps({key: value for key, value in plan.items() if key != "budget"}))
    with pytest.raises(DataError, match="field 'budget'"):
        folder_rows(folder)
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "years.parquet").write_bytes(b"nothing")
    with pytest.raises(DataError, match="years.parquet cannot be read"):
        folder_rows(folder)
    (folder / "years.parquet").unlink()
    with pytest.raises(DataError, match="has not ended"):
        folder_rows(folder)


def test_merging_refuses_the_same_row_from_two_places(tmp_path):
    write_board(board(row(), row(detector="odin")), tmp_path / "a.csv")
    write_board(board(row(detector="energy"), row(detector="odin")), tmp_path / "b.csv")
    boards = [open_board(tmp_path / name) for name in ("a.csv", "b.csv")]
    with pytest.raises(DataError, match=r"a\.csv and .*b\.csv both have the row dblp-easy, full, gcn, odin"):
        merge(boards)
    assert len(merge(boards[:1])) == 2


def test_a_hundred_thousand_year_rows_become_rows_in_a_moment():
    import time

    rng = np.random.default_rng(0)
    count = 100_000
    years = pd.DataFrame([year(0)] * 1).loc[[0] * count].reset_index(drop=True)
    years = years.assign(
        detector=[f"d{i // 40}" for i in range(count)], seed=np.arange(count) // 10 % 4, time=np.arange(count) % 10
    )
    for name in ("accuracy", "auroc", "aupr", "fpr95", "oscr", "micro_f1", "macro_f1", "mcc", "open_f1"):
        years[name], years[f"{name}_reason"] = rng.random(count), ""
    start = time.process_time()
    assert len(board_rows(years)) == 2500
    assert time.process_time() - start < 5
