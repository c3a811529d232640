from __future__ import annotations

import json
import platform
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.submissions.environment import Scrubber, environment
from lgl_bench.submissions.pack import submit
from lgl_bench.submissions.verify import verify


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
    packed = submit(base.out, tmp_path / "a", weights=False, plugins=[base.plugin])
    assert packed.notes == []
    assert not list((tmp_path / "a" / "fits").glob("*.safetensors"))
    key = json.loads((run / "plan.json").read_text())["fits"][0]
    (run / "fits" / key / "model.safetensors").unlink()
    (note,) = submit(run, tmp_path / "b", plugins=[base.plugin]).notes
    assert "1 of 6 fits have no weights" in note
    assert "--checkpoints all" in note


def test_nothing_in_a_bundle_names_the_machine(base, run, tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "workhorse")
    (key,) = json.loads((run / "plan.json").read_text())["fits"][:1]
    noted = json.loads((run / "fits" / key / "fit.json").read_text())
    noted["failed"] = {"x": f"no such file {Path.home()}/secret.txt in {run} on {platform.node()}"}
    (run / "fits" / key / "fit.json").write_text(json.dumps(noted))
    submit(run, tmp_path / "b")
    for path in (tmp_path / "b").rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            for secret in (f"{Path.home()}/", str(tmp_path), str(base.folder), platform.node()):
                assert secret not in text, path
    assert "secret.txt" in (tmp_path / "b" / "fits" / f"{key}.json").read_text()
    assert verify(tmp_path / "b", base.data).differences == []


def test_reasons_are_scrubbed_alike_everywhere(tmp_path):
    scrub = Scrubber(tmp_path)
    assert scrub(f"in {tmp_path}/x") == "in .../x"
    assert scrub.json({"a": [f"{tmp_path}"], "b": 1}) == {"a": ["..."], "b": 1}


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
    assert submit(base.out, tmp_path / "c", plugins=[base.plugin]).notes == []


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
