"""Intervals of rows: drawn from answers where that is possible, kept with the run, Student's otherwise."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from lgl_bench.grading.labels import Labels
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.leaderboard.folder import folder_rows, read_intervals, write_intervals
from lgl_bench.leaderboard.intervals import draw_intervals
from lgl_bench.leaderboard.stats.student import interval
from lgl_bench.runs.store import add_answers
from lgl_bench.streams.checksum import stream_checksum
from tests.support.boards import growing_stream, made_up_run, static_stream

DRAWN = {"accuracy", "auroc_weighted", "auroc_mean"}
DECIDED = {"micro_f1", "macro_f1", "mcc", "recall_new", "false_alarm_rate"}


@pytest.fixture
def stream():
    return growing_stream()


def labels(stream):
    return {(stream.name, stream_checksum(stream)): Labels(stream)}


def drawn_of(folder, stream, draws=200):
    return draw_intervals(Run(folder), labels(stream), draws)


def by_threshold(drawn):
    return {cells[KEY.index("threshold")]: ends for cells, ends in drawn.items()}


def test_every_metric_that_can_be_drawn_has_an_interval_around_its_mean(tmp_path, stream):
    folder = made_up_run(tmp_path / "run", stream, {"msp": 1.0}, threshold="naive")
    drawn = drawn_of(folder, stream)
    assert {name: set(ends) for name, ends in by_threshold(drawn).items()} == {"": DRAWN, "naive": DRAWN | DECIDED}
    write_intervals(folder, drawn)
    rows = folder_rows(folder).set_index("threshold")
    assert rows["interval"].tolist() == ["bootstrap", "bootstrap"]
    for metric in DRAWN | DECIDED:
        row = rows.loc["naive"]
        assert row[f"{metric}_lo"] <= row[f"{metric}_mean"] <= row[f"{metric}_hi"]


def test_a_drawn_interval_knows_of_the_vertices_where_seeds_hardly_differ(tmp_path, stream):
    folder = made_up_run(tmp_path / "run", stream, {"msp": 1.0}, noise=0.001)
    student = folder_rows(folder).iloc[0]
    write_intervals(folder, drawn_of(folder, stream))
    drawn = folder_rows(folder).iloc[0]
    assert (student["interval"], drawn["interval"]) == ("student", "bootstrap")
    width = drawn["auroc_weighted_hi"] - drawn["auroc_weighted_lo"]
    assert width > 10 * (student["auroc_weighted_hi"] - student["auroc_weighted_lo"])
    assert drawn["aupr_reason"] and drawn["auroc_paper_hi"] == student["auroc_paper_hi"]  # not drawn


def test_a_threshold_shares_the_interval_of_its_detectors_auroc(tmp_path, stream):
    folder = made_up_run(tmp_path / "run", stream, {"msp": 1.0}, threshold="naive")
    found = by_threshold(drawn_of(folder, stream))
    assert {name: found[""][name] for name in DRAWN} == {name: found["naive"][name] for name in DRAWN}


def test_the_oracles_regret_is_nothing_and_that_of_another_is_drawn_with_it(tmp_path, stream):
    folder = made_up_run(tmp_path / "run", stream, {"msp": 1.0}, threshold="naive")
    years = pd.read_parquet(folder / "years.parquet")
    oracle = years[years["threshold"] == "naive"].assign(threshold="oracle", track="upper bound")
    years = pd.concat([years, oracle], ignore_index=True)
    run = Run(folder, years)
    for key in set(years["key"]):
        answers = run.store.answers(key)
        add_answers(run.store, key, pd.DataFrame({"rejected:msp|oracle": answers["rejected:msp|naive"]}))
    found = by_threshold(draw_intervals(run, labels(stream), 200))
    # Both decide alike, so whatever is drawn they do not differ.
    assert found["oracle"]["regret"] == found["naive"]["regret"] == (0.0, 0.0)


def test_seeds_that_split_anew_too_few_seeds_and_missing_answers_are_not_drawn(tmp_path, stream):
    still = static_stream()
    anew = made_up_run(tmp_path / "anew", still, {"msp": 1.0}, split="60-20-20")
    assert not drawn_of(anew, still)
    few = made_up_run(tmp_path / "few", stream, {"msp": 1.0}, seeds=2)
    assert not drawn_of(few, stream)
    lost = made_up_run(tmp_path / "lost", stream, {"msp": 1.0})
    next((lost / "answers").glob("*.parquet")).unlink()
    assert not drawn_of(lost, stream)


def test_a_published_split_is_drawn(tmp_path):
    still = static_stream()
    folder = made_up_run(tmp_path / "run", still, {"msp": 1.0})
    write_intervals(folder, drawn_of(folder, still))
    assert folder_rows(folder)["interval"].tolist() == ["bootstrap"]


def test_answers_that_do_not_give_the_numbers_of_the_row_are_not_drawn(tmp_path, stream):
    folder = made_up_run(tmp_path / "run", stream, {"msp": 1.0})
    years = pd.read_parquet(folder / "years.parquet")
    years["auroc"] = years["auroc"] / 2
    (ends,) = draw_intervals(Run(folder, years), labels(stream), 200).values()
    assert set(ends) == {"accuracy"}


def test_what_is_kept_is_read_back_exactly_and_forgotten_when_the_year_rows_change(tmp_path, stream):
    folder = made_up_run(tmp_path / "run", stream, {"msp": 1.0}, threshold="naive")
    drawn = drawn_of(folder, stream)
    write_intervals(folder, drawn)
    assert read_intervals(folder) == drawn
    years = pd.read_parquet(folder / "years.parquet")
    years.assign(fit_seconds=2.0).to_parquet(folder / "years.parquet")
    assert not read_intervals(folder) and set(folder_rows(folder)["interval"]) == {"student"}
    (folder / "intervals.json").write_text("nothing of the kind")
    assert not read_intervals(folder)


def test_draws_are_the_same_every_time_and_whatever_the_other_methods(tmp_path, stream):
    folder = made_up_run(tmp_path / "run", stream, {"msp": 1.0, "odin": 0.5})
    both = drawn_of(folder, stream)
    years = pd.read_parquet(folder / "years.parquet")
    alone = draw_intervals(Run(folder, years[years["detector"] == "msp"]), labels(stream), 200)
    (cells,) = alone
    for metric, ends in alone[cells].items():
        assert both[cells][metric] == pytest.approx(ends, abs=1e-12)
    assert json.dumps(list(both.values())) == json.dumps(list(drawn_of(folder, stream).values()))


def test_students_interval_is_wider_where_seeds_share_vertices():
    lo, hi = interval(np.array([0.5, 0.5]), np.array([0.1, 0.1]), np.array([3, 3]), np.array([0.0, 1 / 3]))
    assert (hi - lo)[1] / (hi - lo)[0] == pytest.approx(2**0.5)
