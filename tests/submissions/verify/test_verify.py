from __future__ import annotations

import pandas as pd
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.detectors import detectors
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.write import refuse_existing, write_board
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.verify.verify import verify
from tests.support.bundles import Forged
from tests.support.refusals import NOVELTY, first, refused


def test_an_honest_bundle_is_recomputed_without_its_plugin(base):
    assert "margin-of-mine" not in detectors
    result = verify(base.bundle, base.data)
    assert result.differences == []
    assert len(result.frame) > 3
    assert set(result.frame["trust"]) == {"recomputed"}
    assert set(result.frame["submitter"]) == {"A. Nother"}
    assert any("margin-of-mine: not available" in note for note in result.notes)
    # Recomputed, not copied: the run's own table says the same.
    own = pd.read_csv(base.out / "leaderboard.csv")
    assert result.frame["auroc_weighted_mean"].tolist() == own["auroc_weighted_mean"].tolist()


def test_a_zip_says_the_same_as_a_folder(base, tmp_path):
    submit(base.out, tmp_path / "bundle.zip")
    assert verify(tmp_path / "bundle.zip", base.data).differences == []


@pytest.mark.parametrize(
    "axes",
    [
        {"select": "t1", "detectors": ["odin", "good(auto)", "energy"]},
        {"select": "prequential", "detectors": ["good(energy)"], "thresholds": ["naive"], "thresholds_on": "all"},
        {"history": 2, "label_delay": 1, "restart": "cold", "detectors": ["msp"]},
        {"detectors": ["msp", "random", "degree"], "seeds": 3},
        {"suite": "static", "streams": ["still"], "detectors": ["isomax+", "good(isomax+)"], "seeds": 3},
    ],
)
def test_choices_histories_and_static_splits_are_recomputed_too(base, tmp_path, axes):
    out = base.carry_out(tmp_path.name, **axes)
    submit(out, tmp_path / "bundle")
    result = verify(tmp_path / "bundle", base.data)
    assert result.differences == []
    assert not [note for note in result.notes if "available" in note]


def test_an_answer_that_was_changed_shows_in_the_rows_it_stands_behind(forged, base):
    # The last year has vertices of a new class.
    forged.change_table(forged.answers(2), lambda frame: frame.assign(**{NOVELTY: 1.0 - frame[NOVELTY]}))
    forged.seal()
    found = refused(forged, base, "years.parquet", "margin-of-mine", "auroc")
    assert any("leaderboard.csv" in text and "auroc_weighted_mean" in text for text in found)


def test_without_sealing_the_digest_names_the_changed_file(forged, base):
    forged.change_table(forged.answers(), lambda frame: frame.assign(**{NOVELTY: 0.5}))
    refused(forged, base, forged.answers().name, "sha256")


def test_a_metric_that_was_changed_is_named_with_row_and_column(forged, base):
    forged.change_board(lambda frame: first(frame, "oscr_mean", "0.9999"))
    forged.seal()
    refused(forged, base, "leaderboard.csv", "column oscr_mean", "detector", "0.9999")


def test_a_metric_that_was_changed_by_a_hair_is_noticed(forged, base):
    def lift(frame):
        return first(frame, "accuracy_mean", str(float(frame.loc[0, "accuracy_mean"]) + 1e-8))

    forged.change_board(lift)
    forged.seal()
    refused(forged, base, "accuracy_mean", "apart")


@pytest.mark.parametrize(
    "column", ["suite_version", "budget", "detector", "preset", "track", "torch", "trust", "n_new", "above_floor"]
)
def test_another_column_that_was_changed_is_noticed(forged, base, column):
    forged.change_board(lambda frame: first(frame, column, "99"))
    forged.seal()
    refused(forged, base, "leaderboard.csv")


def test_rows_that_were_added_dropped_or_doubled_are_named(forged, base):
    original = (forged.folder / "leaderboard.csv").read_text()
    for change, words in (
        (lambda frame: frame.iloc[1:], ("leaderboard.csv", "is missing")),
        (lambda frame: pd.concat([frame, frame.iloc[:1]]), ("leaderboard.csv", "twice")),
        (lambda frame: pd.concat([frame] * 400), ("leaderboard.csv", "more than")),
        (lambda frame: pd.concat([frame, frame.iloc[:1].assign(detector="x")]), ("leaderboard.csv", "x has no place")),
        (lambda frame: pd.concat([frame.iloc[1:], frame.iloc[1:2]]), ("leaderboard.csv", "twice")),
        (lambda frame: frame.drop(columns="git_commit"), ("leaderboard.csv", "git_commit is missing")),
    ):
        (forged.folder / "leaderboard.csv").write_text(original)
        forged.change_board(change)
        forged.seal()
        refused(forged, base, *words)


def test_a_grade_of_a_year_that_was_changed_is_named_with_its_year(forged, base):
    forged.change_table(forged.folder / "years.parquet", lambda frame: first(frame, "accuracy", 0.123))
    forged.seal()
    refused(forged, base, "years.parquet", "time 2", "column accuracy")


def test_nothing_is_overwritten_without_force(base, tmp_path):
    frame = verify(base.bundle, base.data).frame
    target = tmp_path / "board.csv"
    target.write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        write_board(frame, target, force=False)
    assert target.read_text() == "mine"
    write_board(frame, target, force=True)
    assert set(pd.read_csv(target)["trust"]) == {"recomputed"}
    with pytest.raises(UsageError, match="exists already"):
        refuse_existing(base.bundle, force=False)


def test_the_plugin_of_a_bundle_is_never_run(forged, base, tmp_path):
    target = tmp_path / "ran"
    (forged.folder / "plugins" / "margin.py").write_text(f"open({str(target)!r}, 'w').close()")
    forged.seal()
    assert verify(forged.folder, base.data).differences == []
    assert not target.exists()


def test_drawn_intervals_and_pooled_decisions_are_recomputed_and_a_moved_one_is_named(base, tmp_path):
    out = base.carry_out("drawn", seeds=3, detectors=["msp"], thresholds=["naive", "never", "always", "oracle"])
    rows = pd.read_csv(out / "leaderboard.csv").set_index("threshold")
    assert set(rows["interval"]) == {"bootstrap"} and (rows.loc[["never", "always"], "mcc_mean"] == 0).all()
    submit(out, tmp_path / "bundle")
    found = verify(tmp_path / "bundle", base.data)
    assert not found.differences and set(found.frame["interval"]) == {"bootstrap"}
    forged = Forged(tmp_path / "bundle")
    for column, value in (("mcc_hi", "0.999"), ("false_alarm_rate_mean", "0.0"), ("interval", "student")):
        board = (forged.folder / "leaderboard.csv").read_bytes()
        forged.change_board(lambda frame, column=column, value=value: frame.assign(**{column: value}))
        forged.seal()
        differing = verify(forged.folder, base.data).differences
        assert differing and all(f"column {column}" in one for one in differing)
        (forged.folder / "leaderboard.csv").write_bytes(board)


def test_decisions_that_are_left_out_of_a_bad_year_cost_the_row_its_rank(base, tmp_path):
    out = base.carry_out("decided", seeds=2, detectors=["msp"], thresholds=["naive"])
    submit(out, tmp_path / "bundle")
    forged = Forged(tmp_path / "bundle")
    for position in (2, 5):
        path = forged.answers(position)
        forged.change_table(
            path, lambda frame: frame[[name for name in frame if not name.endswith("|naive(delta=0.1)")]]
        )
    forged.regrade(base.data)
    found = verify(forged.folder, base.data)
    assert found.differences == []
    rows = ranked(found.frame.assign(board=0)).set_index("threshold")
    assert pd.isna(rows.loc["naive(delta=0.1)", "rank"])
    assert "1 test years or folds failed with 2 seeds" in rows.loc["naive(delta=0.1)", "unranked_reason"]
    assert not pd.isna(rows.loc["always", "rank"])
