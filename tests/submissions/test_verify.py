from __future__ import annotations

import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.detectors import detectors
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.streams.store import write_stream
from lgl_bench.submissions.layout import BundleError
from lgl_bench.submissions.pack import submit
from lgl_bench.submissions.verify import check_free, verify, write_board
from tests.graphs import small_stream
from tests.submissions.conftest import Forged

NOVELTY = "novelty:margin-of-mine"


def first(frame, column, value):
    """The table with another value in the first row of a column."""
    frame = frame.copy()
    frame.loc[0, column] = value
    return frame


def refused(forged, base, *words):
    """The bundle is refused, or differs, and the message has these words."""
    try:
        found = verify(forged.folder, base.data).differences
    except BundleError as error:
        found = [str(error)]
    assert found, "it was accepted"
    assert all(word in found[0] for word in words), found[0]
    return found


def test_an_honest_bundle_is_recomputed_without_its_plugin(base):
    assert "margin-of-mine" not in detectors
    result = verify(base.bundle, base.data)
    assert result.differences == []
    assert len(result.frame) > 3
    assert set(result.frame["trust"]) == {"recomputed"}
    assert set(result.frame["submitter"]) == {"A. Nother"}
    assert any("margin-of-mine: not at hand" in note for note in result.notes)
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
    assert not [note for note in result.notes if "at hand" in note]


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


def test_swapped_vertices_are_refused(forged, base):
    def swap(frame):
        vertices = frame["vertex"].to_numpy().copy()
        vertices[[0, 1]] = vertices[[1, 0]]
        return frame.assign(vertex=vertices)

    forged.change_table(forged.answers(), swap)
    forged.seal()
    refused(forged, base, forged.answers().name, "column vertex", "row 0")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.iloc[1:], ("column vertex", "missing")),
        (lambda frame: pd.concat([frame, frame.iloc[:1]]), ("rows",)),
        (lambda frame: frame.assign(vertex=frame["vertex"] + 10_000), ("column vertex", "not asked for")),
        (lambda frame: first(frame, "time", 1999), ("column 'time'", "1999")),
        (lambda frame: first(frame, "class_pred", 77), ("class_pred", "77", "known classes")),
        (lambda frame: first(frame, NOVELTY, 1.5), (NOVELTY, "1.5")),
        (lambda frame: first(frame, NOVELTY, np.nan), (NOVELTY, "finite")),
        (lambda frame: first(frame, "confidence", 2.0), ("confidence", "2.0")),
        (lambda frame: frame.drop(columns="confidence"), ("confidence is missing",)),
        (lambda frame: first(frame, "neighbour:msp", -0.1), ("neighbour:msp", "-0.1")),
        (lambda frame: frame.drop(columns=NOVELTY), (f"{NOVELTY} is missing",)),
        (lambda frame: frame.assign(extra=1), ("'extra' has no place",)),
        (lambda frame: frame.assign(**{NOVELTY: frame[NOVELTY].astype("float32")}), (NOVELTY, "float32")),
        (lambda frame: frame.assign(class_pred=frame["class_pred"].astype(str)), ("class_pred", "string")),
        (lambda frame: frame.assign(class_pred=frame["class_pred"].astype("int32")), ("class_pred", "int64")),
        (lambda frame: frame.assign(**{NOVELTY: [pickle.dumps(1)] * len(frame)}), (NOVELTY, "pickle")),
    ],
)
def test_answers_that_answer_something_else_are_refused_by_name(forged, base, change, words):
    forged.change_table(forged.answers(), change)
    forged.seal()
    refused(forged, base, forged.answers().name, *words)


def test_a_class_that_is_born_later_cannot_be_predicted(forged, base):
    # Class 4 is born in the last year: no model can know it.
    forged.change_table(forged.answers(), lambda frame: first(frame, "class_pred", 4))
    forged.seal()
    refused(forged, base, "class_pred", "has 4")


def test_known_classes_are_the_protocols_not_the_bundles(forged, base):
    key = forged.plan()["fits"][1]
    forged.change_json(f"fits/{key}.json", lambda fields: fields.update(known=[0, 1]))
    forged.seal()
    refused(forged, base, f"fits/{key}.json", "known")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plan: plan["streams"].update(small="0" * 64), ("small", "checksum")),
        (lambda plan: plan.update(streams={"../small": "0" * 64}), ("plan.json",)),
        (lambda plan: plan["suite"].update(budget="x"), ("plan.json", "budget")),
        (lambda plan: plan.update(unheard="of"), ("plan.json", "unheard")),
        (lambda plan: plan.update(budget="paper", budget_version=1), ("plan.json", "parameters")),
        (lambda plan: plan.update(budget_version=1), ("plan.json", "budget_version = 1", "not comparable")),
        (lambda plan: plan.pop("budget_version"), ("plan.json", "budget_version")),
        (lambda plan: plan["chains"][0].update(epochs=500), ("plan.json", "parameters")),
        (lambda plan: plan["fits"].pop(), ("plan.json", "fits")),
        (lambda plan: plan["rows"].pop(), ("plan.json", "rows")),
        (lambda plan: plan["rows"][0].update(detector="energy"), ("plan.json", "energy")),
        (lambda plan: plan["rows"][1].update(detector="msp"), ("plan.json", "msp")),
        (lambda plan: plan["rows"][2].update(alpha=0.9), ("plan.json", "good(margin-of-mine")),
        (lambda plan: plan["rows"][0].update(detector="good(" * 90 + "msp" + ")" * 90), ("plan.json",)),
        (lambda plan: plan["suite"].update(label_delay=1), ("plan.json",)),
        (lambda plan: plan["provenance"].pop("torch"), ("plan.json", "torch")),
        (lambda plan: plan.pop("chains"), ("plan.json", "chains")),
    ],
)
def test_a_plan_that_is_not_its_suites_is_refused_by_name(forged, base, change, words):
    forged.change_json("plan.json", change)
    forged.seal()
    refused(forged, base, *words)


def test_a_stream_of_the_same_name_with_other_data_is_refused(base, tmp_path):
    write_stream(small_stream(seed=4), tmp_path / "small")
    with pytest.raises(BundleError, match="small has the checksum .* yours has"):
        verify(base.bundle, tmp_path)


def test_a_reviewer_without_the_data_is_told_so(base, tmp_path):
    with pytest.raises((DataError, UsageError), match="small"):
        verify(base.bundle, tmp_path)


def test_a_fit_may_not_be_called_skipped_or_have_no_answers(forged, base):
    key = forged.plan()["fits"][1]
    forged.change_json(f"fits/{key}.json", lambda fields: fields.update(status="skipped"))
    forged.seal()
    refused(forged, base, f"fits/{key}.json", "skipped")
    forged.change_json(f"fits/{key}.json", lambda fields: fields.update(status="ok"))
    forged.answers().unlink()
    forged.seal()
    refused(forged, base, f"answers/{key}.parquet is missing")


def test_keys_are_compared_where_the_same_code_made_them(forged, base, monkeypatch):
    plan = forged.plan()
    made = {**plan["provenance"], "git_commit": "abc"}
    monkeypatch.setattr("lgl_bench.submissions.plan_checks.provenance", lambda: made)
    old, new = plan["fits"][0], "0" * 24

    def rename(fields):
        fields["fits"][0] = new
        fields["provenance"]["git_commit"] = "abc"

    forged.change_json("plan.json", rename)
    for folder, ending in (("answers", "parquet"), ("fits", "json")):
        (forged.folder / folder / f"{old}.{ending}").rename(forged.folder / folder / f"{new}.{ending}")
    forged.change_json(f"fits/{new}.json", lambda fields: fields.update(key=new))
    forged.seal()
    refused(forged, base, "plan.json", new, old)


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
        check_free(base.bundle, force=False)


def test_a_python_type_in_parquet_is_called_a_pickle(forged, base):
    path = forged.answers()
    table = pq.read_table(path)
    field = table.schema.field("vertex").with_metadata(
        {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": pickle.dumps(1)}
    )
    pq.write_table(table.cast(pa.schema([field, *list(table.schema)[1:]])), path)
    forged.seal()
    refused(forged, base, path.name, "pickle")


def test_a_json_that_is_none_is_refused(forged, base):
    for text in ("[" * 100_000, "{", "[]", '{"a": 1, "a": 2}'):
        (forged.folder / "plan.json").write_text(text)
        forged.seal()
        refused(forged, base, "plan.json")


def test_a_bundle_that_is_a_pickle_is_no_zip(base, tmp_path):
    (tmp_path / "bundle.zip").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(BundleError, match="zip"):
        verify(tmp_path / "bundle.zip", base.data)


def test_the_plugin_of_a_bundle_is_never_run(forged, base, tmp_path):
    target = tmp_path / "ran"
    (forged.folder / "plugins" / "margin.py").write_text(f"open({str(target)!r}, 'w').close()")
    forged.seal()
    assert verify(forged.folder, base.data).differences == []
    assert not target.exists()


def test_a_partial_bundle_says_so(forged, base):
    key = forged.plan()["fits"][-1]
    (forged.folder / "answers" / f"{key}.parquet").unlink()
    (forged.folder / "fits" / f"{key}.json").unlink()
    forged.seal()
    refused(forged, base, f"fits/{key}.json is missing")
    forged.change_json("MANIFEST.json", lambda fields: fields.update(partial=True))
    found = verify(forged.folder, base.data)
    assert any("partial" in note for note in found.notes)
    # Its table was made from all of them.
    assert found.differences


def test_the_manifest_of_a_zip_is_plain_json(base, tmp_path):
    submit(base.out, tmp_path / "bundle.zip")
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        fields = json.loads(archive.read("MANIFEST.json"))
    assert fields["format"] == 1
    assert len(fields["files"]["plan.json"]["sha256"]) == 64


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


def test_a_few_bytes_that_stand_for_gigabytes_are_refused_before_they_are_unpacked(forged, base):
    path = forged.folder / "years.parquet"
    table = pq.read_table(path)
    rows = table.num_rows + 900
    one = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["x" * 5_000_000]))
    for store_schema in (True, False):
        pq.write_table(pa.table({"reason": one}), path, compression="zstd", store_schema=store_schema)
        assert path.stat().st_size < 100_000
        forged.seal()
        refused(forged, base, "years.parquet", "a text has more than")


def test_types_of_answers_are_looked_at_before_any_is_read(forged, base):
    path = forged.answers()
    table = pq.read_table(path)
    text = pa.array(["x" * 1_000_000] * table.num_rows)
    pq.write_table(table.append_column("novelty:long", text), path, compression="zstd")
    forged.seal()
    refused(forged, base, path.name, "novelty:long", "only numbers")


def test_fits_made_by_different_code_are_no_run(forged, base, monkeypatch):
    plan = forged.plan()
    made = {**plan["provenance"], "git_commit": "another"}
    monkeypatch.setattr("lgl_bench.submissions.plan_checks.provenance", lambda: made)
    old, new = plan["fits"][2], "0" * 24
    forged.change_json("plan.json", lambda fields: fields["fits"].__setitem__(2, new))
    for folder, ending in (("answers", "parquet"), ("fits", "json"), ("fits", "safetensors")):
        (forged.folder / folder / f"{old}.{ending}").rename(forged.folder / folder / f"{new}.{ending}")
    forged.change_json(f"fits/{new}.json", lambda fields: fields.update(key=new))
    forged.seal()
    refused(forged, base, "plan.json", "different code or versions")


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
