"""Small runs several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from lgl_bench.api import Settings, plan_run, run_plan
from lgl_bench.runs import execute
from lgl_bench.runs.pool import Outcome, attempt
from lgl_bench.streams.store import write_stream
from tests.graphs import small_stream


class InProcess:
    """The engine of a run in this process: one order at a time."""

    def __init__(self) -> None:
        # A process of its own would remember no stream of an earlier run; the name and folder of one may be the same.
        execute._stream.cache_clear()
        execute._tasks.cache_clear()
        self.orders: list[object] = []
        self.seen: list[object] = []

    @property
    def free(self) -> int:
        return 0 if self.orders else 1

    @property
    def running(self) -> list[object]:
        return self.orders

    def submit(self, order) -> None:
        self.orders.append(order)
        self.seen.append(order)

    def collect(self, on_epoch=None) -> list[Outcome]:
        order = self.orders.pop()
        done = attempt(order, (lambda epoch, loss: on_epoch(order, epoch)) if on_epoch else None)
        return [Outcome(order, None, done) if isinstance(done, str) else Outcome(order, done)]

    def close(self) -> None:
        pass


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A data folder with a small stream of three tasks, and a small static one."""
    folder = tmp_path / "data"
    write_stream(small_stream(), folder / "small")
    write_stream(small_stream(static=True), folder / "still")
    monkeypatch.setenv("LGL_BENCH_DATA", str(folder))
    return folder


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def engines(monkeypatch, data):
    """Every engine that was made, in order; each works in this process."""
    made: list[InProcess] = []

    def make(*limits):
        made.append(InProcess())
        return made[-1]

    monkeypatch.setattr("lgl_bench.api.Pool", make)
    # What a test registers is known to this process, and so to these engines.
    monkeypatch.setattr("lgl_bench.api.check_loadable", lambda plan: None)
    return made


@pytest.fixture
def carry_out(out):
    """Runs the smoke suite on the small stream with one backbone; anything can be said otherwise."""

    def run(suite="smoke", settings=None, listener=None, seeds=None, **axes):
        axes = {"backbones": ["gcn"], "streams": ["small"], **axes}
        settings = settings or Settings(out, offline=True)
        plan, streams = plan_run(suite, settings, budget="smoke", seeds=seeds, **axes)
        return run_plan(plan, streams, settings, listener)

    return run
