"""Ctrl-C as a terminal sends it: to every process of the command at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from lgl_bench.cli import main
from tests.support.commands import environment, wait_for_session

RUN = ["lgl-bench", "run", "--suite", "smoke", "--budget", "smoke", "--backbone", "gcn", "--detector", "msp"]
RUN += ["--threshold", "none", "--seeds", "2", "--jobs", "1", "--offline", "--out", "out"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no sessions")
def test_ctrl_c_in_a_run_is_one_sentence_and_the_same_command_goes_on(tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    surroundings = environment(tmp_path)
    given = {"cwd": here, "env": surroundings, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # A test run that was put in the background by a script ignores SIGINT, and so would all that it starts.
    process = subprocess.Popen(RUN, start_new_session=True, preexec_fn=_heed_interrupts, **given)
    try:
        _wait_for_fits(here / "out", 2, process)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    sentence = "lgl-bench: interrupted; what was finished is kept, and the same command goes on where it stopped"
    assert err.splitlines()[-1] == sentence and "Traceback" not in err
    assert not wait_for_session(process.pid)
    kept = {path: path.stat().st_mtime_ns for path in (here / "out" / "fits").rglob("fit.json")}
    assert len(kept) >= 2
    again = subprocess.run(RUN, check=True, **given)
    assert "leads with auroc_weighted" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without a word")
def test_a_run_in_its_own_process_that_is_told_to_end_does_and_takes_it_for_no_failure_of_a_plugin(tmp_path):
    given = {"cwd": tmp_path, "env": environment(tmp_path), "text": True}
    command = [*RUN[: RUN.index("--jobs")], "--engine", "in-process", *RUN[RUN.index("--offline") :]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given)
    try:
        _wait_for_fits(tmp_path / "out", 1, process)
        process.terminate()
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + signal.SIGTERM and "Traceback" not in err
    status = subprocess.run(["lgl-bench", "status", "out", "--json"], check=True, stdout=subprocess.PIPE, **given)
    found = json.loads(status.stdout)
    assert found["failed"] == 0 and found["done"] >= 1 and found["missing"] >= 1


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _wait_for_fits(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        if len(list(out.glob("fits/*/fit.json"))) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"no fits were made: {process.communicate()}")


@pytest.mark.parametrize(
    ("command", "patched", "said"),
    [
        (["tune", "--suite", "smoke"], "lgl_bench.tuning.study.require_optuna", "goes on where it stopped"),
        (["compare", "a", "b"], "lgl_bench.leaderboard.boards.open_board", "the same command begins again"),
        (["data", "list"], "lgl_bench.streams.catalogue.data_folder", "interrupted\n"),
    ],
)
def test_every_command_says_what_becomes_of_it(monkeypatch, command, patched, said):
    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(patched, interrupt)
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 130 and said in result.stderr and len(result.stderr.splitlines()) == 1
