"""The Ray engine on real clusters on the loopback interface: nodes and plugins that die, clusters that are gone."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import psutil
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.registry import load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.grading.answers import Reader
from lgl_bench.grading.years import year_rows
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.engines.base import attempt
from lgl_bench.runs.engines.in_process import InProcess
from lgl_bench.runs.engines.ray import cluster as ray_cluster
from lgl_bench.runs.engines.ray.engine import RayEngine
from lgl_bench.runs.options import Settings
from lgl_bench.runs.orders import Order
from lgl_bench.runs.scheduler import Scheduler
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.store import write_stream
from tests.support.engine_contract import EngineContract
from tests.support.graphs import small_stream
from tests.support.ray_machines import Cluster, needs_ray, wait_until

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:ray")

MEASURED = ["fit_seconds", "peak_memory_mb"]

PLUGIN = """
import os, time
from pathlib import Path

import numpy as np

from lgl_bench.detectors import Detector, detectors


@detectors.register("slow")
class Slow(Detector):
    def score(self, model, graph):
        marks = Path({marks!r})
        (marks / str(os.getpid())).touch()
        while (marks / "hold").exists():
            time.sleep(0.05)
        return 1.0 - model.probabilities(graph).max(axis=1)


@detectors.register("dies")
class Dies(Detector):
    def score(self, model, graph):
        os._exit(3)


@detectors.register("hangs")
class Hangs(Detector):
    def score(self, model, graph):
        time.sleep(60)


@detectors.register("eats")
class Eats(Detector):
    def score(self, model, graph):
        eaten = np.ones((1600, 2**17))
        time.sleep(60)
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster()
    yield made
    made.close()


@pytest.fixture
def plugin(tmp_path):
    """A file with detectors that misbehave, loaded here too."""
    marks = tmp_path / "marks"
    marks.mkdir()
    path = tmp_path / "bad.py"
    path.write_text(PLUGIN.format(marks=str(marks)))
    with detectors.temporarily():
        load_plugin(path)
        yield str(path)


@needs_ray
class TestEngine(EngineContract):
    """On a Ray of this machine alone."""

    settings = {"engine": "ray"}


def planned(tmp_path: Path, *names: str, seeds: int = 1):
    """A plan on a stream that only this process finds, and the streams."""
    stream = small_stream(times=(0, 1, 2, 3), growth=(30, 30, 30, 30), births=(3, 0, 1, 1))
    write_stream(stream, tmp_path / "data" / "small")
    settings = Settings(tmp_path / "run", data_dir=tmp_path / "data", offline=True)
    axes = {"streams": ["small"], "backbones": ["gcn"], "detectors": list(names)}
    return plan_run("smoke", settings, budget="smoke", seeds=seeds, **axes)


def carried_out(plan, engine, folder: Path, listener=None):
    store = RunStore(folder)
    store.prepare()
    try:
        counts = Scheduler(plan, store, engine, listener=listener).run()
    finally:
        engine.close()
    return store, counts


@needs_ray
def test_a_run_that_loses_a_node_ends_complete_and_equal_to_the_local_one(tmp_path, cluster, plugin):
    plan, streams = planned(tmp_path, "slow", "odin", "mahalanobis", seeds=3)
    local, _ = carried_out(plan, InProcess(TaskCache(streams)), tmp_path / "local")
    shutil.rmtree(tmp_path / "data")  # nodes of a cluster share no files with the driver

    victim = cluster.add()
    engine = RayEngine(streams, cluster.address)
    wait_until(lambda: len(engine.cluster.nodes()) == 2)
    assert engine.free == 3

    hold = tmp_path / "marks" / "hold"
    hold.touch()

    def strike() -> None:
        """Kills the machine while it scores; the other may score only then."""
        wait_until(lambda: any((hold.parent / str(process.pid)).exists() for process in victim.tree))
        victim.kill()
        hold.unlink()

    with ThreadPoolExecutor(1) as aside:
        struck = aside.submit(strike)
        store, counts = carried_out(plan, engine, tmp_path / "cluster")
        struck.result()
    assert engine.repeated == 1
    assert not counts.failed and counts.done == len(plan.all_units) == 6
    for unit in plan.all_units:
        pd.testing.assert_frame_equal(store.answers(unit.key), local.answers(unit.key), check_exact=True)
        assert store.weights(unit.key) == local.weights(unit.key)
    rows, expected = (year_rows(plan, Reader(one, streams)).drop(columns=MEASURED) for one in (store, local))
    pd.testing.assert_frame_equal(rows, expected, check_exact=True)


@needs_ray
def test_a_plugin_that_dies_hangs_or_eats_is_ended_with_the_reason_and_no_process_is_left(tmp_path, plugin, capfd):
    """Without an address, on a Ray of this machine alone."""
    plan, streams = planned(tmp_path, "msp", "dies", "hangs", "eats")
    unit = plan.all_units[0]
    before = set(psutil.Process().children(recursive=True))
    fitted = attempt(Order(unit, ("msp",)), TaskCache(streams))
    # A worker holds about 600 MiB, and what eats takes 1,600 more; on a busy machine the others may take their time.
    engine = RayEngine(streams, None, time_limit=20, memory_limit=1500)
    became = {}
    try:
        for name in ("eats", "dies", "hangs"):
            engine.submit(Order(unit, (name,), weights=fitted.weights))
        while engine.running:
            for outcome in engine.collect():
                became |= outcome.done.failed
        started = set(psutil.Process().children(recursive=True)) - before
    finally:
        engine.close()
    assert became == {
        "dies": "its process died (exit code 3)",
        "hangs": "it took longer than the time limit of 20 s",
        "eats": "it took more than the memory limit of 1,500 MiB",
    }
    assert not psutil.wait_procs(started, timeout=20)[1]
    assert capfd.readouterr().out == ""


@needs_ray
def test_a_node_with_another_lgl_bench_or_none_is_named_with_both_versions(tmp_path, cluster):
    plan, streams = planned(tmp_path, "msp")
    engine = RayEngine(streams, cluster.address)
    ours = engine.dispatcher.versions
    try:
        for expected, message in (
            ({**ours, "torch": "0.1"}, f"torch is {ours['torch'].replace('+', '[+]')}, and 0.1 here"),
            ({**ours, "lgl_absent": "1.0"}, "lgl_absent is not importable .*, and 1.0 here"),
        ):
            engine.dispatcher.versions = expected
            engine.submit(Order(plan.all_units[0], ("msp",)))
            with pytest.raises(UsageError, match=message):
                engine.collect()
            engine._running.clear()
        engine.dispatcher.versions, engine.dispatcher.sources = ours, "another"
        engine.submit(Order(plan.all_units[0], ("msp",)))
        with pytest.raises(UsageError, match="source files of lgl_bench differ"):
            engine.collect()
    finally:
        engine.close()


@needs_ray
def test_a_cluster_that_vanishes_ends_the_run_and_keeps_what_was_finished(tmp_path, plugin, monkeypatch):
    monkeypatch.setattr(ray_cluster, "LOST_AFTER", 3.0)
    plan, streams = planned(tmp_path, "slow")
    cluster = Cluster()
    try:
        engine = RayEngine(streams, cluster.address)
        with pytest.raises(DataError, match="is lost: .*What was finished is kept"):
            carried_out(plan, engine, tmp_path / "run", lambda event: event.done and cluster.machines[0].kill())
    finally:
        cluster.close()
    keys = [unit.key for unit in plan.all_units]
    assert [RunStore(tmp_path / "run").fit(key) is not None for key in keys] == [True, False]
