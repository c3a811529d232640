"""A chain of years killed in the middle of one, and taken up again: nothing differs from one that was not killed."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from lgl_bench.plans.plan_file import read_plan
from lgl_bench.streams.store import write_stream
from tests.kills.outputs import digests, leftovers
from tests.support.commands import Ended, environment, run_command
from tests.support.graphs import small_stream

STRATEGIES = ("replay(size=20)", "ewc", "ssm(size=10)")
SEVENTH = 8
"""The year that is scored with the seventh fit: the first is scored on year 2."""
SCRIPT = """
import os, signal, sys
from pathlib import Path
from lgl_bench.pipeline import plan_run, run_plan
from lgl_bench.runs.options import Settings

out, strategy, year = sys.argv[1:4]
settings = Settings(Path(out), offline=True, engine="in-process")
plan, streams = plan_run("smoke", settings, budget="smoke", seeds=1, streams=["long"], backbones=["gcn"],
                         detectors=["msp", "energy"], thresholds=["quantile"], strategies=sys.argv[4:])

def listen(event):
    chain = event.unit.chain
    if event.kind == "epoch" and event.epoch == 2 and event.unit.time == int(year):
        if chain.strategy.name.startswith(strategy):
            os.kill(os.getpid(), signal.SIGKILL)

counts = run_plan(plan, streams, settings, listen).counts
assert not counts.failed, counts.failed
print("finished")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a stream of eight fitted years, and an undisturbed run of it."""
    folder = tmp_path_factory.mktemp("years")
    times, births = tuple(range(10)), (3, 0, 1, 0, 1, 0, 0, 1, 0, 0)
    write_stream(small_stream(times=times, growth=(20,) * 10, births=births), folder / "data" / "long")
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    assert run(folder, "whole").out.endswith("finished\n")
    return folder


def run(folder: Path, out: str, killed: str = "nobody") -> Ended:
    words = [sys.executable, "script.py", out, killed, str(SEVENTH), *STRATEGIES]
    ended = run_command(words, folder, {**environment(folder), "LGL_BENCH_DATA": str(folder / "data")})
    assert not ended.left
    return ended


def kept(folder: Path) -> dict[str, str]:
    """Weights and memories that are there, whole."""
    files = ("/model.safetensors", "/memory.safetensors")
    return {name: digest for name, digest in digests(folder).items() if name.endswith(files)}


@pytest.mark.parametrize("killed", ["replay", "ewc", "ssm"])
def test_a_chain_killed_while_its_seventh_year_trains_goes_on_as_if_nothing_had_happened(place, killed):
    whole = digests(place / "whole")
    assert len([name for name in whole if name.endswith("memory.safetensors")]) == 3 * 8
    ended = run(place, killed, killed)
    assert ended.code == -signal.SIGKILL, ended.err
    number = [name.partition("(")[0] for name in STRATEGIES].index(killed)
    years = read_plan(place / killed).fits[8 * number : 8 * number + 8]
    # The last record may still have been on its way to the disk.
    assert [(place / killed / "fits" / key / "fit.json").is_file() for key in years[:5]] == [True] * 5
    assert [(place / killed / "fits" / key).exists() for key in years[6:]] == [False, False]
    assert kept(place / killed).items() <= whole.items()
    again = run(place, killed)
    assert again.code == 0, again.err
    assert digests(place / killed) == whole
    assert not leftovers(place / killed)
