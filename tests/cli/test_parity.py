from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from lgl_bench.runs import parity, presets
from lgl_bench.runs.presets import Preset
from lgl_bench.training.trainer import TrainingParameters


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data folder of the user's, no processes, and models of one epoch."""
    monkeypatch.setenv("LGL_BENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(parity, "ProcessPoolExecutor", lambda n, mp_context: ThreadPoolExecutor(n))
    small = Preset("tiny", {"hidden": 4, "dropout": 0.1}, TrainingParameters(epochs=1, lr=0.01))
    monkeypatch.setattr(presets, "preset", lambda *_: small)


def run(out, *arguments):
    return CliRunner().invoke(main, ["parity", "--out", str(out), *arguments])


def test_the_command_writes_the_table_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    asked = ("--stream", "cora-twin", "--backbone", "gcn", "--seeds", "1")
    first = run(tmp_path / "out", *asked, "--json")
    assert first.exit_code == 0, first.output
    rows = json.loads(first.stdout)
    assert [row["detector"] for row in rows] == ["gdoc", "good", "isomax+", "odin"]
    with (tmp_path / "out" / "parity.csv").open(newline="") as file:
        assert [row["detector"] for row in csv.DictReader(file)] == [row["detector"] for row in rows]
    assert "3/3 cora-twin gcn" in first.stderr

    def never(job, folder):
        raise AssertionError(f"{job.key} was run again")

    monkeypatch.setattr(parity, "run_job", never)
    again = run(tmp_path / "out", *asked)
    assert again.exit_code == 0, again.output
    header, *lines = again.stdout.splitlines()
    assert header.split()[:4] == ["stream", "split", "backbone", "detector"] and len(lines) == 4


def test_as_published_adds_what_the_published_code_does_differently(tmp_path):
    asked = ("--stream", "cora-twin", "--backbone", "gcn", "--head", "gdoc", "--seeds", "1", "--as-published")
    found = run(tmp_path, *asked, "--json")
    assert found.exit_code == 0, found.output
    rows = [(row["detector"], row["switch"]) for row in json.loads(found.stdout)]
    assert rows == [(name, switch) for name in ("gdoc", "good") for switch in ("", "layer", "weights")]
    assert "3/3 cora-twin gcn gdoc" in found.stderr
    text = (tmp_path / "parity.md").read_text()
    assert "## What the published code does differently" in text and "| gdoc | weights |" in text
    only = run(tmp_path / "one", *asked, "--switch", "weights", "--json")
    assert {row["switch"] for row in json.loads(only.stdout)} == {"", "weights"}


def test_a_switch_without_as_published_is_wrong_usage(tmp_path):
    found = run(tmp_path, "--stream", "cora-twin", "--switch", "layer")
    assert found.exit_code == 2 and "--as-published" in found.stderr


def test_a_dry_run_writes_the_tables_and_runs_nothing(tmp_path, monkeypatch):
    asked = ("--stream", "cora-twin", "--backbone", "gcn", "--head", "gdoc")
    assert run(tmp_path, *asked, "--seeds", "1").exit_code == 0
    (tmp_path / "parity.md").unlink()

    def never(job, folder):
        raise AssertionError(f"{job.key} was run")

    monkeypatch.setattr(parity, "run_job", never)
    found = run(tmp_path, *asked, "--seeds", "3", "--dry-run")
    assert found.exit_code == 0, found.output
    text = (tmp_path / "parity.md").read_text()
    assert "## Cells with fewer than 3 seeds" in text and "| cora-twin | 60-20-20 | gcn | gdoc | 1 | 0 |" in text


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
    result = run(tmp_path, "--stream", "cora-twin", "--backbone", "gnc", "--seeds", "1")
    assert result.exit_code == 2 and "did you mean 'gcn'" in result.stderr


@pytest.mark.parametrize("option", ["--seeds", "--jobs"])
def test_none_of_something_is_wrong_usage(tmp_path, option):
    result = run(tmp_path, "--stream", "cora-twin", option, "0")
    assert result.exit_code == 2 and f"{option} 0" in result.stderr
    assert not (tmp_path / "parity.csv").exists()


def test_a_stream_and_a_folder_are_needed():
    assert CliRunner().invoke(main, ["parity"]).exit_code == 2
