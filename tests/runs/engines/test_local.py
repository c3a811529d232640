"""The local engine: its processes end with the run, and a worker that dies costs what it was doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from lgl_bench.pipeline import plan_run
from lgl_bench.runs.engines.local import Pool
from lgl_bench.runs.options import Settings
from lgl_bench.runs.orders import Order
from tests.support.engine_contract import EngineContract
from tests.support.leftovers import MARK, left_of

SLEEPS = """
import os, time
from pathlib import Path

from lgl_bench.detectors import Detector, detectors

@detectors.register("sleeps")
class Sleeps(Detector):
    def score(self, model, graph):
        Path(__file__).with_suffix(".started").touch()
        os.fork()
        time.sleep(600)
"""


class TestEngine(EngineContract):
    settings = {"engine": "local", "jobs": 1}


def test_the_pool_has_as_many_workers_as_asked_for():
    workers = Pool(2)
    try:
        assert workers.free == 2 and not workers.running
    finally:
        workers.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_every_process_ends_at_once_when_the_driver_is_killed(tmp_path, data, number):
    plugin = tmp_path / "sleeps.py"
    plugin.write_text(SLEEPS)
    mark = str(tmp_path)
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
    command += ["--stream", "small", "--backbone", "gcn", "--detector", "sleeps", "--threshold", "none", "--jobs", "1"]
    driver = subprocess.Popen(
        [*command, "--plugin", str(plugin), "--out", str(tmp_path / "run")],
        env={**os.environ, MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 240
    while not plugin.with_suffix(".started").exists():
        assert driver.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    driver.send_signal(number)
    driver.wait()
    assert left_of(mark) == []


def test_a_worker_that_dies_costs_its_order_and_another_one_takes_the_next(tmp_path, data):
    axes = {"streams": ["small"], "backbones": ["gcn"], "detectors": ["msp"], "thresholds": ["none"]}
    plan, _ = plan_run("smoke", Settings(tmp_path, offline=True), budget="smoke", **axes)
    order = Order(plan.all_units[0], ("msp",))
    pool = Pool(1)
    try:
        pool.submit(order)
        pool._busy[0].process.kill()
        (lost,) = pool.collect()
        pool.submit(order)
        (done,) = pool.collect()
    finally:
        pool.close()
    assert lost.done is None and lost.reason == "the worker process died (exit code -9)"
    assert done.done is not None and done.done.fit_record.status == "ok"
