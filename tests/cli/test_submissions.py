from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.core.errors import UsageError


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_new_says_what_it_wrote_and_refuses_to_write_it_again(tmp_path):
    folder = tmp_path / "pkg"
    result = run("new", "detector", "my-method", "--to", folder, "--json")
    assert result.exit_code == 0
    assert "my_method/__init__.py" in json.loads(result.output)["files"]
    again = run("new", "detector", "my-method", "--to", folder)
    assert again.exit_code == 2
    assert "--force" in again.output
    assert run("new", "detector", "my-method", "--to", folder, "--force").exit_code == 0


def test_a_folder_that_is_no_run_and_a_bundle_that_is_not_there_are_bad_data(tmp_path):
    assert run("submit", tmp_path, "--to", tmp_path / "b").exit_code == 3
    assert run("verify", tmp_path / "none").exit_code == 3


def test_a_bundle_that_is_refused_exits_with_one_and_writes_nothing(tmp_path):
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "evil.pkl").write_bytes(b"")
    result = run("verify", tmp_path / "bundle", "--out", tmp_path / "board.csv")
    assert result.exit_code == 1
    assert "evil.pkl" in result.output
    assert not (tmp_path / "board.csv").exists()


def test_differences_are_printed_and_exit_with_one(tmp_path, monkeypatch):
    from lgl_bench.submissions.verify.verify import Verified

    found = Verified(pd.DataFrame({"a": [1]}), ["leaderboard.csv, row x, column y: 1 was sent, it is 2"], ["a note"])
    monkeypatch.setattr("lgl_bench.submissions.verify.verify.verify", lambda bundle, data_dir, **asked: found)
    result = run("verify", tmp_path, "--out", tmp_path / "board.csv")
    assert result.exit_code == 1
    assert "row x, column y" in result.output
    assert "a note" in result.output
    assert not (tmp_path / "board.csv").exists()
    assert json.loads(run("verify", tmp_path, "--json").stdout)["differences"] == found.differences


def test_the_table_of_a_reviewer_is_not_overwritten_without_force(tmp_path):
    (tmp_path / "board.csv").write_text("mine")
    for command in ("verify", "reproduce"):
        result = run(command, tmp_path / "bundle", "--out", tmp_path / "board.csv")
        assert result.exit_code == 2
        assert "--force" in result.output
    assert (tmp_path / "board.csv").read_text() == "mine"


@pytest.mark.parametrize("command", ["verify", "reproduce"])
def test_a_plugin_before_the_command_is_not_run_by_the_process_of_a_reviewer(tmp_path, command):
    trap = tmp_path / "trap.py"
    trap.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    result = run("--plugin", trap, command, tmp_path / "none")
    assert result.exit_code == 3, result.output
    assert not (tmp_path / "ran").exists()
    if command == "verify":
        assert "verify runs no plugin" in result.stderr
    # Any other command does run it.
    assert run("--plugin", trap, "list", "detectors").exit_code == 0
    assert (tmp_path / "ran").exists()


def test_a_plugin_before_reproduce_is_the_method_to_run(tmp_path, monkeypatch):
    seen = {}

    def again(bundle, **given):
        seen.update(given)
        raise UsageError("enough")

    monkeypatch.setattr("lgl_bench.submissions.reproduce.reproduce.reproduce", again)
    run("--plugin", "a.py", "reproduce", tmp_path, "--plugin", "b.py")
    assert seen["plugins"] == (Path("a.py"), Path("b.py"))
