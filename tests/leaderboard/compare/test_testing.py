from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.boards import open_board
from lgl_bench.leaderboard.compare import testing
from lgl_bench.leaderboard.compare.answers import load_answers
from lgl_bench.leaderboard.compare.boards import compare
from lgl_bench.streams.store import write_stream
from tests.support.boards import (
    growing_stream,
    made_up_run,
    replace_answers,
    static_stream,
)


@pytest.fixture
def data(tmp_path) -> Path:
    for stream in (growing_stream(), static_stream()):
        write_stream(stream, tmp_path / "data" / stream.name)
    return tmp_path / "data"


def verdicts(found, metric: str = "auroc_weighted") -> dict[str, str]:
    rows = found.rows[found.rows["metric"] == metric]
    return dict(zip(rows["detector"], rows["verdict"], strict=True))


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
