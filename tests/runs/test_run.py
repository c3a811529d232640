"""Suites carried out end to end, small: what is stored, what is trained again, what survives a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.runs import pool
from lgl_bench.runs.api import Settings, plan_run
from lgl_bench.runs.store import RunStore

LEFT_OUT = ["fit_seconds", "peak_memory_mb", "created_at"]

pytestmark = pytest.mark.usefixtures("data")


def comparable(out: Path) -> pd.DataFrame:
    return pd.read_csv(out / "leaderboard.csv").drop(columns=LEFT_OUT)


def test_a_run_stores_fits_answers_years_and_a_leaderboard(out, engines, carry_out):
    result = carry_out(detectors=["msp", "good(msp, alpha=0.3)"])
    store = RunStore(out)
    keys = store.plan()["fits"]
    assert len(keys) == 3 and all(store.fit(key)["status"] == "ok" for key in keys)
    answers = store.answers(keys[0])
    assert list(answers)[:3] == ["vertex", "time", "class_pred"]
    assert {"novelty:msp", "neighbour:msp"} <= set(answers)
    assert set(result.years["time"]) == {2, 3, 4}
    assert set(result.frame["detector"]) == {"msp", "good(msp,alpha=0.3)"}
    assert not result.counts.failed


def test_a_second_run_does_only_what_is_missing(out, engines, carry_out):
    carry_out(detectors=["msp"])
    before = comparable(out)
    carry_out(detectors=["msp"])
    assert len(engines[0].seen) > 0 and not engines[1].seen
    assert comparable(out).equals(before)


def test_a_detector_added_later_trains_nothing_and_another_alpha_loads_no_model(out, engines, carry_out):
    carry_out(detectors=["energy"], thresholds=["none"])
    carry_out(detectors=["energy", "mahalanobis"], thresholds=["none"])
    assert engines[1].seen and all(order.weights is not None for order in engines[1].seen)
    carry_out(detectors=["energy", "good(energy, alpha=0.9)"], thresholds=["none"])
    assert not engines[2].seen


def test_the_number_of_fits_does_not_grow_with_post_hoc_detectors(tmp_path):
    settings = Settings(tmp_path, offline=True)
    few, _ = plan_run("temporal", settings, detectors=["msp"], budget="smoke")
    many, _ = plan_run("temporal", settings, detectors=["msp", "energy", "knn", "good(knn)"], budget="smoke")
    assert len(few.all_units) == len(many.all_units) > 0


def test_weights_that_were_not_kept_are_trained_again_when_needed(out, engines, carry_out):
    carry_out(detectors=["msp"], settings=Settings(out, offline=True, checkpoints="none"))
    assert not list(out.glob("fits/*/model.safetensors"))
    first = comparable(out)
    carry_out(detectors=["msp", "energy"])
    both = comparable(out)
    assert both[both["detector"] == "msp"].reset_index(drop=True).equals(first)


def test_a_plugin_that_raises_fails_its_own_rows_only(out, engines, carry_out):
    from lgl_bench.detectors import Detector, detectors

    class Raises(Detector):
        def score(self, model, graph):
            raise ValueError("no luck")

    detectors.register("raises")(Raises)
    try:
        result = carry_out(detectors=["raises", "msp"], thresholds=["none"])
        frame = result.frame.set_index("detector")
        assert "no luck" in frame.loc["raises", "accuracy_reason"]
        assert frame.loc["msp", "accuracy_n_seeds"] == 1
        assert len(result.counts.failed) == 3
    finally:
        del detectors._plugins["raises"]


def test_an_absent_stream_is_replaced_by_its_twin_unless_that_is_forbidden(tmp_path):
    settings = Settings(tmp_path / "run", data_dir=tmp_path / "data", offline=True)
    plan, streams = plan_run("temporal", settings, streams=["dblp-easy"], detectors=["msp"], budget="smoke")
    assert list(streams) == ["dblp-easy-twin"] and "dblp-easy" in plan.stand_ins
    assert {row.stream for row in plan.rows} == {"dblp-easy-twin"}
    strict = Settings(tmp_path / "run", data_dir=tmp_path / "data", offline=True, real_only=True)
    with pytest.raises(DataError, match="dblp-easy is not at hand"):
        plan_run("temporal", strict, streams=["dblp-easy"], budget="smoke")


def test_wrong_axes_are_refused_with_the_name(tmp_path):
    settings = Settings(tmp_path, offline=True)
    for given, expected in (
        ({"detectors": ["odn"]}, "did you mean 'odin'"),
        ({"backbones": ["gnc"]}, "did you mean 'gcn'"),
        ({"budget": "quik"}, "did you mean 'quick'"),
        ({"seeds": -1}, "--seeds -1"),
    ):
        with pytest.raises(UsageError, match=expected):
            plan_run("smoke", settings, **given)
    with pytest.raises(UsageError, match="did you mean 'smoke'"):
        plan_run("smok", settings)


COMMAND = [sys.executable, "-m", "lgl_bench.cli", "run", "--suite", "smoke", "--budget", "smoke", "--stream", "small"]


def test_a_run_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path):
    arguments = ["--stream", "dblp-easy-twin", "--backbone", "gcn", "--detector", "odin", "--detector", "gdoc"]
    subprocess.run([*COMMAND[:-2], *arguments, "--out", str(tmp_path / "whole")], check=True, capture_output=True)
    for moment in range(10):
        process = subprocess.Popen(
            [*COMMAND[:-2], *arguments, "--out", str(tmp_path / "killed")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(1.5 + 0.7 * moment)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*COMMAND[:-2], *arguments, "--out", str(tmp_path / "killed")], check=True, capture_output=True)
    whole, killed = comparable(tmp_path / "whole"), comparable(tmp_path / "killed")
    assert whole.equals(killed)
    assert not list((tmp_path / "killed").rglob("*.partial"))


def test_a_unit_that_hangs_or_dies_is_named_and_the_others_are_complete(tmp_path):
    plugin = tmp_path / "bad.py"
    plugin.write_text(
        "import os, time\nfrom lgl_bench.detectors import Detector, detectors\n"
        "@detectors.register('hangs')\nclass Hangs(Detector):\n"
        "    def score(self, model, graph):\n        time.sleep(60)\n"
        "@detectors.register('dies')\nclass Dies(Detector):\n"
        "    def score(self, model, graph):\n        os._exit(3)\n"
    )
    done = subprocess.run(
        [*COMMAND, "--backbone", "gcn", "--detector", "msp", "--detector", "hangs", "--detector", "dies"]
        + ["--plugin", str(plugin), "--time-limit", "8", "--jobs", "2", "--threshold", "none"]
        + ["--out", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    frame = pd.read_csv(tmp_path / "run" / "leaderboard.csv").set_index("detector")
    assert frame.loc["msp", "accuracy_n_seeds"] == 1
    assert "time limit" in frame.loc["hangs", "accuracy_reason"]
    assert "died" in frame.loc["dies", "accuracy_reason"]


def test_jobs_do_not_change_the_numbers(tmp_path):
    for jobs in ("1", "2"):
        arguments = ["--backbone", "gcn", "--detector", "odin", "--jobs", jobs, "--out", str(tmp_path / jobs)]
        subprocess.run([*COMMAND, *arguments], check=True, capture_output=True)
    assert comparable(tmp_path / "1").equals(comparable(tmp_path / "2"))


def test_the_pool_has_as_many_workers_as_asked_for():
    workers = pool.Pool(2)
    try:
        assert workers.free == 2 and not workers.running
    finally:
        workers.close()
