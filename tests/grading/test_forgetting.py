"""What a run tells about forgetting and transfer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.pipeline import plan_run
from lgl_bench.runs.options import Settings
from lgl_bench.runs.records import StoreWarning
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from tests.support.graphs import small_stream

CHAIN = ("forgetting", "backward_transfer", "forward_transfer")


def with_matrix(carry_out, out, **axes):
    axes = {"detectors": ["msp"], "thresholds": ["none"], **axes}
    result = carry_out(settings=Settings(out, offline=True, matrix=True), **axes)
    matrix = pd.read_parquet(out / "matrix.parquet")
    return result, matrix.set_index(["trained_up_to", "evaluated_on"])["accuracy"]


def test_the_board_has_what_the_matrix_of_every_model_on_every_year_gives(engines, carry_out, out):
    result, cells = with_matrix(carry_out, out)
    assert sorted(set(cells.index.get_level_values(0))) == [1, 2, 3] and len(cells) == 12
    # The year after a model's last is what the protocol grades.
    graded = result.years.drop_duplicates("time").set_index("time")["accuracy"]
    for year in (2, 3, 4):
        assert cells[year - 1, year] == graded[year]
    row = result.frame[result.frame["detector"] == "msp"].iloc[0]
    changed = np.mean([cells[3, 1] - cells[1, 1], cells[3, 2] - cells[2, 2]])
    assert row["backward_transfer_mean"] == pytest.approx(changed) and row["backward_transfer_n_years"] == 2
    lost = np.mean([max(cells[1, 1], cells[2, 1]) - cells[3, 1], cells[2, 2] - cells[3, 2]])
    assert row["forgetting_mean"] == pytest.approx(lost) and row["forgetting_n_seeds"] == 1
    assert row["emergence_n_years"] == 1
    for metric in CHAIN:  # every detector of a chain has the same
        assert result.frame[f"{metric}_mean"].nunique() == 1
    # A second run asks for nothing.
    with_matrix(carry_out, out)
    assert not engines[1].seen


def test_a_model_that_was_fitted_before_is_asked_later(engines, carry_out, out):
    carry_out(detectors=["msp"], thresholds=["none"])
    _, later = with_matrix(carry_out, out)
    _, at_once = with_matrix(carry_out, out.with_name("other"))
    pd.testing.assert_series_equal(later, at_once, check_exact=True)


def test_without_a_matrix_there_is_no_forgetting_for_a_reason_but_there_is_emergence(engines, carry_out):
    row = carry_out(detectors=["msp"], thresholds=["none"]).frame.iloc[0]
    assert all(pd.isna(row[f"{name}_mean"]) and "--matrix" in row[f"{name}_reason"] for name in CHAIN)
    assert row["emergence_reason"] == "" and row["emergence_mean"] >= 0


def test_tasks_that_do_not_build_on_each_other_have_neither(engines, carry_out, out):
    settings = Settings(out, offline=True, matrix=True)
    frame = carry_out("static", streams=["still"], detectors=["msp"], split=["60-20-20"], settings=settings).frame
    for name in (*CHAIN, "emergence"):
        assert set(frame[f"{name}_reason"]) == {"tasks do not build on each other"}


def test_where_labels_arrive_late_a_model_is_trained_up_to_the_last_year_whose_labels_it_has(engines, carry_out, out):
    result, cells = with_matrix(carry_out, out, label_delay=1)
    assert sorted(set(cells.index.get_level_values(0))) == [0, 1, 2]
    graded = result.years.drop_duplicates("time").set_index("time")["accuracy"]
    assert [cells[year - 2, year] for year in (2, 3, 4)] == [graded[year] for year in (2, 3, 4)]
    # Three classes are known in the years 0 and 1, and four in the year 2.
    ahead = [cells[0, 1] - 1 / 3, cells[1, 2] - 1 / 3, cells[2, 3] - 1 / 4]
    row = result.frame.iloc[0]
    assert row["forward_transfer_mean"] == pytest.approx(np.mean(ahead))
    # The year 0, before t0, is not evaluated on, so the year 1 alone is left.
    assert row["backward_transfer_mean"] == pytest.approx(cells[2, 1] - cells[1, 1])
    assert row["forgetting_n_years"] == row["backward_transfer_n_years"] == 1


def test_a_year_without_labels_is_a_row_that_is_missing(engines, carry_out, out, data):
    stream = small_stream(times=(0, 1, 2, 3, 4, 5), growth=(30,) * 6, births=(3, 0, 1, 0, 1, 0))
    stream = replace(stream, labels=np.where(stream.born == 3, -1, stream.labels))
    write_stream(stream, data / "holes")
    result, cells = with_matrix(carry_out, out, streams=["holes"])
    # The model of the year 3 learned from no label after the year 2.
    assert sorted(set(cells.index.get_level_values(0))) == [1, 2, 4]
    row = result.frame.iloc[0]
    changed = np.mean([cells[4, 1] - cells[1, 1], cells[4, 2] - cells[2, 2]])
    assert row["backward_transfer_mean"] == pytest.approx(changed)
    ahead = np.mean([cells[1, 2] - 1 / 3, cells[4, 5] - 1 / 5])
    assert row["forward_transfer_mean"] == pytest.approx(ahead)


def test_a_strategy_of_kept_vertices_answers_for_years_it_no_longer_has(engines, carry_out, out):
    _, cells = with_matrix(carry_out, out, strategies=["ssm(size=9)"])
    assert len(cells) == 12 and cells.between(0, 1).all()


def test_a_suite_may_ask_for_the_matrix_itself(engines, carry_out, out, tmp_path):
    text = 'name="m"\nversion=1\ntitle="m"\nprotocol="temporal"\nstreams=["small"]\nbackbones=["gcn"]\n'
    (tmp_path / "m.toml").write_text(text + 'detectors=["msp"]\nmatrix=true\n')
    carry_out(str(tmp_path / "m.toml"))
    assert len(pd.read_parquet(out / "matrix.parquet")) == 12


def test_the_matrix_needs_all_weights(data, out):
    with pytest.raises(UsageError, match="--matrix needs .* --checkpoints all"):
        plan_run("smoke", Settings(out, matrix=True, checkpoints="last"), streams=["small"])


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"PAR1"), lambda path: path.unlink()])
def test_a_damaged_row_is_found_and_made_again(engines, carry_out, out, damage):
    _, before = with_matrix(carry_out, out)
    path = next(out.glob("fits/*/matrix.parquet"))
    good = path.read_bytes()
    damage(path)
    if path.exists():
        with pytest.warns(StoreWarning, match="matrix.parquet is damaged"):
            _, after = with_matrix(carry_out, out)
    else:
        _, after = with_matrix(carry_out, out)
    assert path.read_bytes() == good
    pd.testing.assert_series_equal(before, after, check_exact=True)
    assert len(engines[1].seen) == 1


def test_a_row_whose_record_was_not_written_any_more_counts_for_nothing(engines, carry_out, out):
    with_matrix(carry_out, out)
    store = RunStore(out)
    key = next(out.glob("fits/*")).name
    store.write_fit(key, store.fit(key).but(matrix_row=None))
    assert store.matrix_row(key) is None
    with_matrix(carry_out, out)
    assert store.matrix_row(key) is not None and len(engines[1].seen) == 1
