from __future__ import annotations

import getpass
import json
import platform
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.plans.plan_file import read_plan
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import RunStore, add_answers
from lgl_bench.submissions.bundle.environment import Scrubber, environment
from lgl_bench.submissions.bundle.pack import submit
from lgl_bench.submissions.verify.verify import verify


@pytest.fixture
def run(base, tmp_path) -> Path:
    """A copy of the run folder."""
    return Path(shutil.copytree(base.out, tmp_path / "run"))


def test_a_bundle_holds_everything_and_names_every_file(base):
    names = {path.relative_to(base.bundle).as_posix() for path in base.bundle.rglob("*") if path.is_file()}
    manifest = json.loads((base.bundle / "MANIFEST.json").read_text())
    assert names == {*manifest["files"], "MANIFEST.json"}
    assert {"plan.json", "leaderboard.csv", "years.parquet", "environment.json", "plugins/margin.py"} <= names
    keys = json.loads((base.bundle / "plan.json").read_text())["fits"]
    for pattern in ("answers/{}.parquet", "fits/{}.json", "fits/{}.safetensors"):
        assert {pattern.format(key) for key in keys} <= names


def test_weights_stay_at_home_when_that_is_asked_for_and_lost_ones_are_noted(base, run, tmp_path):
    packed = submit(base.out, tmp_path / "a", weights=False, plugins=[base.plugin], data_dir=base.data)
    assert packed.notes == []
    assert not list((tmp_path / "a" / "fits").glob("*.safetensors"))
    key = json.loads((run / "plan.json").read_text())["fits"][0]
    (run / "fits" / key / "model.safetensors").unlink()
    note = submit(run, tmp_path / "b", plugins=[base.plugin]).notes[0]
    assert "1 of 6 fits have no weights" in note
    assert "--checkpoints all" in note


def note_failure(run: Path, reason: str) -> str:
    """Notes a failure of something that no row needs; the key of the fit."""
    (key,) = json.loads((run / "plan.json").read_text())["fits"][:1]
    path = run / "fits" / key / "fit.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "failed": {"x": reason}}))
    return key


def test_no_folder_of_the_machine_stands_in_a_bundle(base, run, tmp_path):
    key = note_failure(run, f"no such file {Path.home()}/secret.txt in {run}, nor /data/users/jane/other.txt")
    submit(run, tmp_path / "b", data_dir=base.data)
    for path in (tmp_path / "b").rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            for secret in (f"{Path.home()}/", str(tmp_path), str(base.folder), "jane"):
                assert secret not in text, path
    kept = json.loads((tmp_path / "b" / "fits" / f"{key}.json").read_text())["failed"]["x"]
    assert kept == "no such file .../secret.txt in ..., nor .../other.txt"


def test_a_user_a_host_or_a_run_folder_named_like_a_word_of_the_bundle_does_not_break_it(base, tmp_path, monkeypatch):
    # "test" is the role of a task, "ab" a part of many keys, "small" the stream.
    monkeypatch.setattr(getpass, "getuser", lambda: "test")
    monkeypatch.setattr(platform, "node", lambda: "small")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(base.out, "ab")
    submit(Path("ab"), Path("bundle"), data_dir=base.data)
    assert verify(Path("bundle"), base.data).differences == []
    for name in ("fits", "answers"):
        given = {path.name: path.read_bytes() for path in Path("bundle", name).iterdir()}
        assert given == {path.name: path.read_bytes() for path in (base.bundle / name).iterdir()}


def test_reasons_lose_whole_folders_and_nothing_else(tmp_path):
    scrub = Scrubber(tmp_path, Path("ab"), Path("/home/jane doe/runs"))
    assert scrub(f"in {tmp_path}/x") == "in .../x"
    assert scrub("'/home/jane doe/runs/x'") == "'.../x'"
    assert (
        scrub(f"{tmp_path}2 test/ab 1/2 https://a.org/b/c")
        == ".../" + f"{tmp_path.name}2 test/ab 1/2 https://a.org/b/c"
    )
    noted = FitRecord(
        status="failed", key="k", time=1, role=str(tmp_path), reason=str(tmp_path), failed={"/a/b": "no /a/b/c"}
    )
    assert scrub.record(noted) == noted.but(reason="...", failed={"/a/b": "no .../c"})


def test_a_bundle_that_would_not_verify_is_not_made(base, run, tmp_path):
    key = json.loads((run / "plan.json").read_text())["fits"][1]
    answers = RunStore(run).answers(key)
    (run / "answers" / f"{key}.parquet").unlink()
    add_answers(RunStore(run), key, answers.assign(**{"neighbour:msp": 5.0}))
    with pytest.raises(DataError, match=r"would not verify.*neighbour:msp"):
        submit(run, tmp_path / "to" / "b", data_dir=base.data)
    assert list((tmp_path / "to").iterdir()) == []


def test_rows_are_made_anew_from_the_answers_and_without_the_data_as_they_are(base, run, tmp_path):
    board = run / "leaderboard.csv"
    board.write_text(board.read_text().replace("msp", "psm"))
    assert submit(run, tmp_path / "a", data_dir=base.data, plugins=[base.plugin]).notes == []
    assert "msp" in (tmp_path / "a" / "leaderboard.csv").read_text()
    (note,) = submit(run, tmp_path / "b", data_dir=tmp_path, plugins=[base.plugin]).notes
    assert "the bundle was not verified here" in note
    assert "small" in note
    assert "psm" in (tmp_path / "b" / "leaderboard.csv").read_text()


def test_the_environment_lists_versions(base):
    about = environment()
    assert about["packages"]["torch"]
    assert about["python"] == platform.python_version()
    assert json.loads((base.bundle / "environment.json").read_text()) == about


def test_an_unfinished_run_is_refused_unless_it_is_called_partial(base, run, tmp_path):
    key = json.loads((run / "plan.json").read_text())["fits"][-1]
    shutil.rmtree(run / "fits" / key)
    (run / "answers" / f"{key}.parquet").unlink()
    (run / "leaderboard.csv").unlink()
    with pytest.raises(DataError, match="still to be made"):
        submit(run, tmp_path / "b", partial=True, data_dir=tmp_path)
    with pytest.raises(DataError, match=r"1 of \d+ fits are missing.*--partial"):
        submit(run, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    submit(run, tmp_path / "b", partial=True, data_dir=base.data)
    result = verify(tmp_path / "b", base.data)
    assert result.differences == []
    assert any("partial" in note for note in result.notes)


def test_nothing_is_replaced_without_force_and_only_bundles_with_it(base, tmp_path):
    for name in ("b", "b.zip"):
        target = tmp_path / name
        submit(base.out, target)
        with pytest.raises(UsageError, match="--force"):
            submit(base.out, target)
        submit(base.out, target, force=True, submitter="B")
        assert set(verify(target, base.data).frame["submitter"]) == {"B"}
    (tmp_path / "b" / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        submit(base.out, tmp_path / "b", force=True)
    assert (tmp_path / "b" / "thesis.txt").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "b.zip"]


def test_a_bundle_appears_whole_or_not_at_all(base, run, tmp_path):
    (run / "years.parquet").write_bytes(b"no table")
    with pytest.raises(DataError, match=r"years\.parquet"):
        submit(run, tmp_path / "to" / "b")
    assert list((tmp_path / "to").iterdir()) == []


def test_a_plugin_without_its_source_is_noted(base, tmp_path):
    assert any("margin-of-mine" in note for note in submit(base.out, tmp_path / "b").notes)
    assert submit(base.out, tmp_path / "c", plugins=[base.plugin], data_dir=base.data).notes == []


def test_a_package_goes_by_its_own_name(base, tmp_path):
    package = tmp_path / "my_method" / "__init__.py"
    package.parent.mkdir()
    package.write_text("x = 1")
    submit(base.out, tmp_path / "b.zip", plugins=[package])
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert archive.read("plugins/my_method.py") == b"x = 1"


@pytest.mark.parametrize("name", ["=cmd()", " me", "a\nb", "x" * 101])
def test_a_submitter_must_be_a_plain_name(base, tmp_path, name):
    with pytest.raises(UsageError, match="--submitter"):
        submit(base.out, tmp_path / "b", submitter=name)


def test_the_submitter_stands_in_every_row(base):
    frame = pd.read_csv(base.bundle / "leaderboard.csv")
    assert set(frame["submitter"]) == {"A. Nother"}


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no run"):
        submit(tmp_path, tmp_path / "b")


def test_a_folder_of_several_runs_gives_the_last_one_and_says_what_is_left_out(base, tmp_path):
    base.carry_out("twice", seeds=1, detectors=["msp"], thresholds=["none"])
    out = base.carry_out("twice", seeds=1, detectors=["energy"], thresholds=["none"])
    assert {"msp", "energy(temperature=1.0)"} <= set(pd.read_csv(out / "leaderboard.csv")["detector"])
    packed = submit(out, tmp_path / "b", data_dir=base.data)
    assert "msp" not in set(pd.read_csv(tmp_path / "b" / "leaderboard.csv")["detector"])
    assert any("only the rows of the last run are packed" in note and "msp on small" in note for note in packed.notes)
    with pytest.raises(DataError, match="one of several"):
        submit(out, tmp_path / "c", data_dir=tmp_path)
    last = read_plan(out).digest()
    (first,) = (path.stem for path in (out / "plans").iterdir() if path.stem != last)
    packed = submit(out, tmp_path / "d", data_dir=base.data, plan=first[:12])
    assert "msp" in set(pd.read_csv(tmp_path / "d" / "leaderboard.csv")["detector"])
    assert not any("are packed" in note for note in packed.notes)
    assert not verify(tmp_path / "d", base.data).differences
    with pytest.raises(UsageError, match=f"is none of the plans .*{first}: .* on small"):
        submit(out, tmp_path / "e", data_dir=base.data, plan="absent")


def test_the_manifest_of_a_zip_is_plain_json(base, tmp_path):
    submit(base.out, tmp_path / "bundle.zip")
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        fields = json.loads(archive.read("MANIFEST.json"))
    assert fields["format"] == 1
    assert len(fields["files"]["plan.json"]["sha256"]) == 64
