"""Small runs several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from lgl_bench.pipeline import plan_run, run_plan
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.engines.in_process import InProcess
from lgl_bench.runs.engines.local import Pool
from lgl_bench.runs.options import Settings
from lgl_bench.runs.orders import Order
from lgl_bench.streams.store import write_stream
from tests.support.graphs import small_stream


class Recording(InProcess):
    """The engine of this process, plugins included; it keeps every order that it was given."""

    def __init__(self, tasks: TaskCache) -> None:
        super().__init__(tasks)
        self.seen: list[Order] = []

    def submit(self, order: Order) -> None:
        super().submit(order)
        self.seen.append(order)


def in_this_process(patch: pytest.MonkeyPatch, engine: type[Recording] = Recording) -> list[Recording]:
    """Has runs on local processes work in this one; every engine that is started is added to the list."""
    made: list[Recording] = []

    def start(settings: Settings, tasks: TaskCache) -> Recording:
        # A run on other processes keeps no tasks in its own.
        made.append(engine(TaskCache(tasks.streams)))
        return made[-1]

    patch.setattr(Pool, "start", start)
    return made


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
    """Every engine that was started, in order; each works in this process."""
    # What a test registers is known to this process, and so to these engines.
    monkeypatch.setattr("lgl_bench.pipeline.check_loadable", lambda plan: None)
    return in_this_process(monkeypatch)


@pytest.fixture
def carry_out(out):
    """Runs the smoke suite on the small stream with one backbone; anything can be said otherwise."""

    def run(suite="smoke", settings=None, listener=None, seeds=None, **axes):
        axes = {"backbones": ["gcn"], "streams": ["small"], **axes}
        settings = settings or Settings(out, offline=True)
        plan, streams = plan_run(suite, settings, budget="smoke", seeds=seeds, **axes)
        return run_plan(plan, streams, settings, listener)

    return run
