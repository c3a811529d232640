"""`lgl_bench.run` in a plain script, as a stranger writes it: no guard, an empty folder, a new process."""

from __future__ import annotations

import os
import subprocess
import sys

import pandas as pd
import pytest

from lgl_bench.streams.store import write_stream
from tests.support.graphs import small_stream
from tests.support.leftovers import MARK, left_of

LEFT_OUT = ["fit_seconds", "peak_memory_mb", "created_at"]
SCRIPT = """
from pathlib import Path

import lgl_bench
{before}
with Path("ran").open("a") as file:
    file.write("once ")
result = lgl_bench.run(
    "smoke", streams=["small"], backbones=["gcn"], detectors={detectors}, thresholds=["naive"], budget="smoke",
    out="run", offline=True{settings},
)
print(len(result.frame), "rows")
"""
OWN_DETECTOR = """
import os
import torch
from lgl_bench.detectors import Detector, detectors

@detectors.register("mine")
class Mine(Detector):
    def score(self, model, graph):
        os.chdir("/")
        torch.set_default_dtype(torch.float64)
        model.outputs(graph).logits.zero_()
        return graph.born * 0.0
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    write_stream(small_stream(), folder / "data" / "small")
    return folder


def start(place, name, arguments):
    """Python in an empty folder."""
    folder = place / name
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "LGL_BENCH_DATA": str(place / "data"), MARK: str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert left_of(str(folder)) == []
    return folder, done


def script(place, name, detectors=("msp",), before="", settings=""):
    path = place / f"{name}.py"
    path.write_text(SCRIPT.format(before=before, detectors=list(detectors), settings=settings))
    return start(place, name, [str(path)])


def board(folder):
    return pd.read_csv(folder / "run" / "leaderboard.csv", dtype=str).drop(columns=LEFT_OUT)


@pytest.fixture(scope="module")
def expected(place):
    """The board of the command line."""
    command = ["-m", "lgl_bench.cli", "run", "--suite", "smoke", "--budget", "smoke", "--stream", "small"]
    command += [
        "--backbone",
        "gcn",
        "--detector",
        "msp",
        "--threshold",
        "naive",
        "--jobs",
        "1",
        "--out",
        "run",
        "--offline",
    ]
    folder, done = start(place, "command", command)
    assert done.returncode == 0, done.stderr
    return board(folder)


@pytest.mark.parametrize("settings", ["", ", jobs=2"], ids=["default", "two-jobs"])
def test_a_script_without_a_guard_runs_once_and_gives_the_board_of_the_command_line(place, expected, settings):
    folder, done = script(place, f"plain{len(settings)}", settings=settings)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert (folder / "ran").read_text() == "once " and done.stdout == f"{len(expected)} rows\n"
    assert board(folder).equals(expected)


def test_a_detector_of_the_script_itself_is_scored_in_its_process_and_changes_nobody_elses_row(place, expected):
    folder, done = script(place, "own", ["mine", "msp"], OWN_DETECTOR)
    assert done.returncode == 0, done.stderr
    found = board(folder)
    plain = [frame[(frame["detector"] == "msp") & frame["threshold"].isna()] for frame in (found, expected)]
    assert plain[0].to_csv(index=False) == plain[1].to_csv(index=False)
    assert found[found["detector"] == "mine"]["accuracy_mean"].notna().all()


def test_more_jobs_and_a_detector_of_the_script_are_one_sentence_before_anything_starts(place):
    folder, done = script(place, "refused", ["mine"], OWN_DETECTOR, ", jobs=2")
    assert done.returncode == 1 and not (folder / "run").exists()
    said = done.stderr.strip().splitlines()[-1]
    assert "UsageError: the detector 'mine' is registered by the running script" in said and "jobs=1" in said
    assert done.stderr.count("Traceback") == 1 and (folder / "ran").read_text() == "once "
