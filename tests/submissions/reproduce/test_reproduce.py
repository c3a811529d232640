"""The sandbox is replaced by this process here; test_escapes and the walk of CONTRIBUTING start the real one."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.core.errors import LglBenchError, LglBenchWarning, UsageError
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.reproduce.again import run_again
from lgl_bench.submissions.reproduce.reproduce import reproduce
from lgl_bench.submissions.verify.verify import verify

NOVELTY = "novelty:margin-of-mine"


def forge(forged, base) -> Path:
    """Answers of the new vertices made better, every metric recomputed from them: consistent, and a lie."""

    def better(frame):
        born = frame["vertex"] == frame["vertex"].max()
        return frame.assign(**{NOVELTY: frame[NOVELTY].where(~born, 1.0)})

    forged.change_table(forged.answers(2), better)
    return forged.regrade(base.data)


def test_an_honest_bundle_is_reproduced_by_its_plugin(base, here):
    result = reproduce(base.bundle, [base.plugin], data_dir=base.data)
    assert result.differences == []
    assert result.rows == len(result.frame) > 3
    assert set(result.frame["trust"]) == {"reproduced"}


def test_forged_answers_that_verify_do_not_survive(forged, base, here):
    forge(forged, base)
    assert verify(forged.folder, base.data).differences == []
    result = reproduce(forged.folder, [base.plugin], data_dir=base.data)
    assert any(NOVELTY in text and "apart" in text and "seed 0" in text for text in result.differences)
    assert any("leaderboard.csv, row" in text and "auroc" in text for text in result.differences)
    assert "reproduced" not in set(result.frame["trust"])


def test_neighbour_means_that_verify_cannot_tell_are_compared(forged, base, here):
    forged.change_table(forged.answers(1), lambda frame: frame.assign(**{"neighbour:msp": 0.5}))
    forged.seal()
    assert verify(forged.folder, base.data).differences == []
    result = reproduce(forged.folder, [base.plugin], detectors=["msp"], data_dir=base.data)
    assert any("neighbour:msp" in text for text in result.differences)


def test_another_method_under_the_same_name_is_noticed(base, here, tmp_path):
    other = tmp_path / "margin.py"
    other.write_text(base.plugin.read_text().replace("(1.0 - (", "0.5 * (1.0 - ("))
    result = reproduce(base.bundle, [other], data_dir=base.data)
    assert any(NOVELTY in text for text in result.differences)
    assert not any("novelty:msp" in text for text in result.differences)


def test_a_tolerance_lets_small_differences_pass_and_large_ones_not(base, here, tmp_path):
    other = tmp_path / "margin.py"
    other.write_text(base.plugin.read_text().replace("(1.0 - (", "0.999999 * (1.0 - ("))
    assert reproduce(base.bundle, [other], data_dir=base.data).differences
    assert reproduce(base.bundle, [other], data_dir=base.data, tolerance=0.1).differences == []
    with pytest.raises(UsageError, match="negative"):
        reproduce(base.bundle, [other], data_dir=base.data, tolerance=-1)


def test_the_method_comes_from_the_reviewers_file_never_from_the_bundle(base, here):
    with pytest.raises(LglBenchError, match=r"margin-of-mine.*--plugin FILE"):
        reproduce(base.bundle, data_dir=base.data)
    assert here[0][0].plugins == []


def test_only_the_rows_that_were_asked_for_are_run_and_called_reproduced(base, here):
    result = reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data)
    assert result.differences == []
    trust = result.frame.groupby("detector")["trust"].unique().map(list).to_dict()
    assert trust["msp"] == ["reproduced"]
    assert trust["margin-of-mine"] == ["recomputed"]
    assert result.rows == int((result.frame["detector"] == "msp").sum())
    with pytest.raises(UsageError, match="no such row"):
        reproduce(base.bundle, [base.plugin], detectors=["energy"], data_dir=base.data)


def test_the_process_is_told_the_plan_and_sees_no_answer(base, here):
    reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data)
    ((order, sandbox, _),) = here
    text = json.dumps(asdict(order))
    assert str(base.bundle) not in text
    assert "answers" not in text
    assert not sandbox.open
    shown = [Path(path) for path in (*sandbox.view.read_only, sandbox.view.folder)]
    assert base.data / "small" in shown
    assert not [path for path in shown if base.bundle.is_relative_to(path) or base.out.is_relative_to(path)]


def test_no_copy_of_the_bundle_is_there_while_the_method_runs(base, here, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    there = []
    honest = run_again

    def look(order):
        there.extend(path.name for path in tmp_path.rglob("*.parquet"))
        honest(order)

    monkeypatch.setattr("lgl_bench.submissions.reproduce.again.run_again", look)
    assert reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data).differences == []
    assert there == []
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_that_changes_while_its_method_runs_is_refused(forged, base, here, monkeypatch):
    honest = run_again

    def swap(order):
        honest(order)
        forged.change_table(forged.answers(), lambda frame: frame.assign(confidence=0.5))
        forged.seal()

    monkeypatch.setattr("lgl_bench.submissions.reproduce.again.run_again", swap)
    with pytest.raises(LglBenchError, match="was changed while"):
        reproduce(forged.folder, [base.plugin], detectors=["msp"], data_dir=base.data)


def test_limits_of_the_whole_run_are_finite_and_can_be_given(base, here):
    reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data)
    asked = {"total_time_limit": 9.0, "total_memory_limit": 500.0}
    reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data, **asked)
    first, second = (limits for _, _, limits in here)
    assert 3600 < first.seconds < float("inf") and 0 < first.mebibytes < float("inf")
    assert (second.seconds, second.mebibytes) == (9.0, 500.0)


def test_a_bundle_that_does_not_verify_is_not_run(forged, base, here):
    forged.change_board(lambda frame: frame.assign(oscr_mean="0.5"))
    forged.seal()
    assert reproduce(forged.folder, [base.plugin], data_dir=base.data).differences
    assert here == []


def test_a_fit_that_is_said_to_have_failed_is_run_again(forged, base, here):
    key = forged.plan()["fits"][2]
    forged.change_json(f"fits/{key}.json", lambda fields: fields.update(status="diverged", reason="bad luck"))
    forged.answers(2).unlink()
    forged.regrade(base.data)
    assert any("recorded as failed" in note for note in verify(forged.folder, base.data).notes)
    result = reproduce(forged.folder, [base.plugin], detectors=["msp"], data_dir=base.data)
    assert any(f"fits/{key}.json has status diverged" in text for text in result.differences)


def test_a_network_that_cannot_be_cut_is_said_loudly_before_anything_runs(base, here, monkeypatch):
    cut = "lgl_bench.submissions.reproduce.isolate._skip_reason"
    monkeypatch.setattr(cut, lambda sandbox: "" if "network" in sandbox.open else "forbidden here")
    with pytest.raises(UsageError, match="--allow-network"):
        reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data)
    assert here == []
    with pytest.warns(LglBenchWarning, match=r"NOT EVERYTHING COULD BE CUT OFF.*network"):
        result = reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data, allow_network=True)
    assert any("it can reach the network" in note for note in result.notes)
    assert result.trust == "reproduced"


def test_rows_of_a_method_that_could_copy_its_answers_are_not_called_reproduced(base, here, monkeypatch):
    cut = "lgl_bench.submissions.reproduce.isolate._skip_reason"
    monkeypatch.setattr(cut, lambda sandbox: "forbidden here" if sandbox.name != "no sandbox" else "")
    with pytest.raises(UsageError, match="--unsafe"):
        reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data, allow_network=True)
    with pytest.warns(LglBenchWarning, match="every file"):
        result = reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data, unsafe=True)
    assert result.differences == [] and result.trust == "recomputed"
    assert set(result.frame["trust"]) == {"recomputed"}
    assert any("not called reproduced" in note for note in result.notes)


def test_other_versions_are_noted(forged, base, here):
    forged.change_json("plan.json", lambda plan: plan["provenance"].update(torch="1.0"))
    forged.change_board(lambda frame: frame.assign(torch="1.0"))
    forged.seal()
    result = reproduce(forged.folder, [base.plugin], detectors=["msp"], data_dir=base.data)
    assert any("torch 1.0 there" in note and "--tolerance" in note for note in result.notes)


def test_a_plugin_file_that_is_not_there_is_wrong_usage(base, tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        reproduce(base.bundle, [tmp_path / "no.py"], data_dir=base.data)


def replace_file(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


def replace_folder(path: Path, target: Path) -> None:
    shutil.rmtree(path)
    path.symlink_to(target)


def fill(path: Path, target: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("answers/*.parquet", replace_file, "is a link"),
        ("answers", replace_folder, "is a link"),
        ("leaderboard.csv", lambda path, target: path.unlink(), "gave no leaderboard.csv"),
        ("leaderboard.csv", fill, "more than"),
    ],
)
def test_what_a_method_leaves_in_its_run_folder_is_not_trusted(base, here, monkeypatch, name, change, words):
    honest = run_again

    def tamper(order):
        honest(order)
        # The sandbox cannot follow a link to the bundle; whoever compares could.
        change(next(Path(order.out).glob(name)), base.bundle / name)

    monkeypatch.setattr("lgl_bench.submissions.reproduce.again.run_again", tamper)
    with pytest.raises(LglBenchError, match=words):
        reproduce(base.bundle, [base.plugin], detectors=["msp"], data_dir=base.data)


def test_the_reviewers_table_is_what_was_recomputed(base, here):
    result = reproduce(base.bundle, [base.plugin], data_dir=base.data)
    own = pd.read_csv(base.out / "leaderboard.csv")
    assert result.frame["auroc_weighted_mean"].tolist() == own["auroc_weighted_mean"].tolist()


def test_a_sample_of_the_years_is_run_again_and_raises_no_trust(base, here):
    result = reproduce(base.bundle, [base.plugin], fold="2", data_dir=base.data)
    assert result.differences == []
    (order, _, _) = here[-1]
    made = list((Path(order.out) / "fits").iterdir()) if Path(order.out).exists() else []
    assert 0 < result.fits < len(json.loads((base.bundle / "plan.json").read_text())["fits"]) and not made
    assert "reproduced" not in set(result.frame["trust"])


def test_a_sample_notices_forged_answers_of_its_years_only(forged, base, here):
    forge(forged, base)
    year = str(json.loads((forged.folder / "fits" / f"{forged.plan()['fits'][2]}.json").read_text())["time"])
    result = reproduce(forged.folder, [base.plugin], fold=year, data_dir=base.data)
    assert any(NOVELTY in text and "seed 0" in text for text in result.differences)
    before = str(int(year) - 1)
    assert reproduce(forged.folder, [base.plugin], fold=before, data_dir=base.data).differences == []


def test_a_sample_of_a_static_run_is_one_class(base, here, tmp_path):
    axes = {"suite": "static", "streams": ["still"], "detectors": ["msp"], "thresholds": ["none"]}
    submit(base.carry_out(tmp_path.name, seeds=2, **axes), tmp_path / "bundle")
    result = reproduce(tmp_path / "bundle", fold="1", data_dir=base.data)
    assert result.differences == [] and result.fits == 1


def test_a_fold_that_is_not_there_is_refused_with_those_that_are(base, here):
    with pytest.raises(UsageError, match="--fold 77x: the bundle has no such fold; it has"):
        reproduce(base.bundle, [base.plugin], fold="77x", data_dir=base.data)
