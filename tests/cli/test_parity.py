from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.plans.budget import BUDGETS, Budget, Caps
from lgl_bench.report.parity import run as runs
from tests.support.bundles import plugins_forgotten


@pytest.fixture(autouse=True)
def small(data, monkeypatch):
    """No data folder of the user's, a budget of two steps, and no plugin that stays."""
    monkeypatch.setitem(BUDGETS, "paper", Budget("paper", version=1, seeds=10, caps=Caps(4, 2, 2, 0.01, 0.5)))
    with plugins_forgotten():
        yield


def run(out, *arguments):
    return CliRunner().invoke(main, ["parity", "--out", str(out), *arguments])


def never(*arguments):
    raise AssertionError("something was run")


def test_the_command_writes_the_table_and_goes_on_where_it_stopped(out, monkeypatch):
    asked = ("--stream", "still", "--backbone", "gcn", "--seeds", "1")
    first = run(out, *asked, "--json")
    assert first.exit_code == 0, first.output
    rows = json.loads(first.stdout)
    assert [row["detector"] for row in rows] == ["gdoc", "good", "isomax+", "odin"]
    with (out / "parity.csv").open(newline="") as file:
        assert [row["detector"] for row in csv.DictReader(file)] == [row["detector"] for row in rows]
    with (out / "measured.csv").open(newline="") as file:
        assert {row["detector"] for row in csv.DictReader(file)} == {row["detector"] for row in rows}
    assert "fits" in first.stderr

    monkeypatch.setattr("lgl_bench.runs.engines.base.execute", never)
    again = run(out, *asked)
    assert again.exit_code == 0, again.output
    header, *lines = again.stdout.splitlines()
    assert header.split()[:4] == ["stream", "split", "backbone", "detector"] and len(lines) == 4


def test_as_published_adds_what_the_published_code_does_differently(out):
    asked = ("--stream", "still", "--backbone", "gcn", "--head", "gdoc", "--seeds", "1", "--as-published")
    only = run(out, *asked, "--switch", "weights", "--json")
    assert {row["switch"] for row in json.loads(only.stdout)} == {"", "weights"}
    found = run(out, *asked, "--json")
    assert found.exit_code == 0, found.output
    rows = [(row["detector"], row["switch"]) for row in json.loads(found.stdout)]
    switches = ("", "layer", "weights", "outputs", "outputs-together")
    assert rows == [(name, switch) for name in ("gdoc", "good") for switch in switches]
    text = (out / "parity.md").read_text()
    assert "## What the published code does differently" in text and "| gdoc | weights |" in text


def test_a_switch_without_as_published_is_wrong_usage(tmp_path):
    found = run(tmp_path, "--stream", "cora-twin", "--switch", "layer")
    assert found.exit_code == 2 and "--as-published" in found.stderr


def test_a_dry_run_writes_the_tables_and_runs_nothing(out, monkeypatch):
    asked = ("--stream", "still", "--backbone", "gcn", "--head", "gdoc")
    assert run(out, *asked, "--seeds", "1").exit_code == 0
    (out / "parity.md").unlink()
    monkeypatch.setattr(runs, "run_plan", never)
    monkeypatch.setattr(runs, "answer_plan", never)
    found = run(out, *asked, "--seeds", "3", "--dry-run")
    assert found.exit_code == 0, found.output
    text = (out / "parity.md").read_text()
    assert "## What is left to run" in text and "| still | 60-20-20 | gcn | gdoc | 1 |  | 0 |" in text


def test_a_dry_run_without_anything_measured_is_wrong_usage(tmp_path):
    found = run(tmp_path, "--stream", "still", "--dry-run")
    assert found.exit_code == 2 and "no cell to show" in found.stderr
    assert not (tmp_path / "parity.csv").exists()


def test_what_fails_is_told_and_the_command_ends_with_1(out, monkeypatch):
    monkeypatch.setattr("lgl_bench.detectors.one_vs_rest.GDocDetector.score", never)
    found = run(out, "--stream", "still", "--backbone", "gcn", "--head", "gdoc", "--seeds", "1")
    assert found.exit_code == 1 and "answers failed: AssertionError: something was run" in found.stderr
    assert "| still | 60-20-20 | gcn | gdoc | 1 |" in (out / "parity.md").read_text()


def test_a_stream_nobody_knows_is_answered_with_the_nearest(tmp_path):
    result = run(tmp_path, "--stream", "cora-twn")
    assert result.exit_code == 2 and "did you mean 'cora-twin'" in result.stderr


def test_a_stream_whose_data_is_not_there_says_how_to_get_it(tmp_path):
    result = run(tmp_path, "--stream", "cora")
    assert result.exit_code == 3 and "data fetch cora" in result.stderr


@pytest.mark.parametrize(
    ("stream", "split", "said"), [("cora-twin", "temporal", "static"), ("dblp-easy-twin", "60-20-20", "temporal")]
)
def test_a_split_that_does_not_fit_the_stream_is_refused(tmp_path, stream, split, said):
    result = run(tmp_path, "--stream", stream, "--split", split)
    assert result.exit_code == 2
    assert f"--split {split} does not fit {stream}" in result.stderr and said in result.stderr


def test_a_split_nobody_knows_is_refused(tmp_path):
    result = run(tmp_path, "--stream", "cora-twin", "--backbone", "gcn", "--split", "70-30")
    assert result.exit_code == 2 and "70-30" in result.stderr and "Traceback" not in result.output


def test_a_backbone_nobody_knows_is_refused(tmp_path):
    result = run(tmp_path, "--stream", "cora-twin", "--backbone", "gcnn", "--seeds", "1")
    assert result.exit_code == 2 and "did you mean 'gcn'" in result.stderr


@pytest.mark.parametrize("option", ["--seeds", "--jobs"])
def test_none_of_something_is_wrong_usage(tmp_path, option):
    result = run(tmp_path, "--stream", "cora-twin", option, "0")
    assert result.exit_code == 2 and f"{option} 0" in result.stderr
    assert not (tmp_path / "parity.csv").exists()


def test_a_stream_and_a_folder_are_needed():
    assert CliRunner().invoke(main, ["parity"]).exit_code == 2
