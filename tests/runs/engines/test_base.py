"""Engines by name: an engine of one's own is one file."""

from __future__ import annotations

import pytest

import lgl_bench
from lgl_bench.core.errors import UnknownNameError
from lgl_bench.pipeline import plan_run
from lgl_bench.runs.engines import engines
from lgl_bench.runs.engines.base import Stopwatch
from lgl_bench.runs.options import Settings
from tests.support.commands import environment, run_command

STUB = """
from pathlib import Path

from lgl_bench.runs.engines import Engine, Outcome, attempt, engines


@engines.register("stub")
class Stub(Engine):
    \"\"\"Does two orders at a time, the last first.\"\"\"

    def __init__(self, tasks):
        self.tasks, self.orders = tasks, []

    @classmethod
    def start(cls, settings, tasks):
        return cls(tasks)

    @property
    def free(self):
        return 2 - len(self.orders)

    @property
    def running(self):
        return self.orders

    def submit(self, order):
        self.orders.append(order)

    def collect(self, on_epoch=None):
        if not self.orders:
            return []
        order = self.orders.pop()
        return [Outcome.of(order, attempt(order, self.tasks))]

    def close(self):
        Path(__file__).with_suffix(".closed").touch()
"""

ASKED = ["--suite", "smoke", "--budget", "smoke", "--stream", "small", "--backbone", "gcn", "--detector", "msp"]


@pytest.fixture
def stub(tmp_path):
    path = tmp_path / "stub.py"
    path.write_text(STUB, encoding="utf-8")
    with engines.temporarily():
        yield path


def test_an_engine_of_one_file_carries_a_plan_out_from_python(stub, data, tmp_path):
    asked = {"streams": ["small"], "backbones": ["gcn"], "detectors": ["msp"], "budget": "smoke", "offline": True}
    found = lgl_bench.run("smoke", out=tmp_path / "stub", engine="stub", plugins=[str(stub)], **asked)
    assert stub.with_suffix(".closed").exists() and not found.counts.failed
    here = lgl_bench.run("smoke", out=tmp_path / "here", **asked)
    left_out = ["fit_seconds", "peak_memory_mb", "created_at"]
    assert found.all.drop(columns=left_out).equals(here.all.drop(columns=left_out))


def test_an_engine_of_one_file_carries_a_plan_out_from_the_command_line(stub, data, tmp_path):
    command = ["lgl-bench", "run", *ASKED, "--threshold", "none", "--engine", "stub", "--plugin", str(stub)]
    variables = {**environment(tmp_path), "LGL_BENCH_DATA": str(data)}
    done = run_command([*command, "--offline", "--out", "run"], tmp_path, variables)
    assert done.code == 0 and "leaderboard.csv" in done.out, done.err
    assert stub.with_suffix(".closed").exists() and (tmp_path / "run" / "leaderboard.csv").is_file()


def test_an_unknown_engine_is_refused_before_anything_is_opened_with_those_there_are(tmp_path):
    with pytest.raises(UnknownNameError, match="unknown engine 'locl'; did you mean 'local'.*in-process, local, ray"):
        plan_run("smoke", Settings(tmp_path / "run", engine="locl"), streams=["nowhere"])


def test_a_stopwatch_stands_still_until_it_is_started_and_while_it_is_paused(monkeypatch):
    now = iter([1.0, 3.0, 4.0, 10.0, 12.0])
    monkeypatch.setattr("lgl_bench.runs.engines.base.time.monotonic", lambda: next(now))
    clock = Stopwatch()
    assert clock.seconds == 0
    clock.restart()
    assert clock.seconds == 2
    clock.pause(True)
    assert clock.seconds == 3
    clock.pause(False)
    assert clock.seconds == 5
    clock.reset()
    assert clock.seconds == 0
