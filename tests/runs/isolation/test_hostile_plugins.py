"""Hostile plugins beside MSP: its rows are as without them, theirs fail alone with name and reason, nothing is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.core.references import FLOOR
from lgl_bench.streams.store import write_stream
from tests.support import hostile
from tests.support.graphs import small_stream
from tests.support.leftovers import MARK, left_of

HOSTILE = Path(hostile.__file__)
LEFT_OUT = ("fit_seconds", "peak_memory_mb", "created_at")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    write_stream(small_stream(), folder / "data" / "small")
    return folder


def run(place, out, *arguments):
    """A run of the command line on the small stream: its exit code, rows and errors, and that nothing is left of it."""
    mark = f"{out}-{time.time_ns()}"
    command = [
        sys.executable,
        "-m",
        "lgl_bench.cli",
        "run",
        "--suite",
        "smoke",
        "--budget",
        "smoke",
        "--stream",
        "small",
    ]
    done = subprocess.run(
        [*command, "--stream", "small", "--jobs", "1", "--json", "--out", str(place / out), *arguments],
        env={**os.environ, "LGL_BENCH_DATA": str(place / "data"), MARK: mark},
        capture_output=True,
        check=False,
        timeout=900,
    )
    assert left_of(mark) == []
    return done.returncode, json.loads(done.stdout), done.stderr.decode()


def rows(place, out):
    return pd.read_csv(place / out / "leaderboard.csv", dtype=str, keep_default_na=False)


def named(option, values):
    return [part for value in values for part in (option, value)]


def row_of(board, detector, threshold="", backbone="gcn"):
    """What a row of a board says, apart from what differs from run to run."""
    found = board[(board["detector"] == detector) & (board["threshold"] == threshold) & (board["backbone"] == backbone)]
    (row,) = found.to_dict("records")
    # Boards without thresholds have no column for the share that is rejected.
    return {name: value for name, value in row.items() if name not in LEFT_OUT and "rejected_share" not in name}


@pytest.fixture(scope="module")
def alone(place):
    arguments = ["--backbone", "gcn", "--detector", "msp", "--threshold", "naive", "--thresholds", "all"]
    code, _, _ = run(place, "alone", *arguments)
    assert code == 0
    return rows(place, "alone")


@pytest.fixture(scope="module")
def beside(place, alone):
    """MSP with every hostile detector in one run."""
    arguments = ["--backbone", "gcn", *named("--detector", ["msp", *hostile.EXPECTED]), "--threshold", "none"]
    arguments += ["--plugin", str(HOSTILE), "--memory-limit", "1100"]
    code, found, errors = run(place, "beside", *arguments)
    assert code == 1 and "Traceback" not in errors
    return {row["detector"]: row for row in found["rows"] if not row["threshold"]}


def test_the_rows_of_the_others_are_the_same_byte_for_byte_and_the_output_is_json(place, alone, beside):
    for detector in ("msp", *FLOOR):
        assert row_of(rows(place, "beside"), detector) == row_of(alone, detector)


@pytest.mark.parametrize("name", hostile.EXPECTED)
def test_a_hostile_detector_fails_alone_with_its_reason_or_is_scored_as_what_it_is(beside, name):
    expected, reason = hostile.EXPECTED[name], beside[name]["accuracy_reason"]
    if expected is None:
        assert not reason
        assert beside[name]["auroc_weighted_mean"] == beside["msp"]["auroc_weighted_mean"]
    else:
        assert expected in reason and len(reason) < 1000
        assert beside[name]["auroc_weighted_mean"] is None


def test_hostile_backbones_heads_and_thresholds_fail_alone_too(place, alone):
    arguments = named("--backbone", ["gcn", "raises", "dies", "spoils"]) + ["--detector", "msp", "--thresholds", "all"]
    arguments += named("--threshold", ["naive", "writes-novelty", "leaves"]) + ["--plugin", str(HOSTILE)]
    code, found, errors = run(place, "models", *arguments)
    assert code == 1 and "Traceback" not in errors
    board = rows(place, "models")
    for threshold in ("", "naive(delta=0.1)", "never", "always", "oracle"):
        assert row_of(board, "msp", threshold) == row_of(alone, "msp", threshold)
    reasons = {(row["backbone"], row["threshold"]): row["accuracy_reason"] or "" for row in found["rows"]}
    assert "no such layer" in reasons["raises", ""]
    assert "exit code 5" in reasons["dies", ""]
    assert not reasons["spoils", ""]
    assert "read-only" in reasons["gcn", "writes-novelty"]
    assert "the threshold left" in reasons["gcn", "leaves"]
