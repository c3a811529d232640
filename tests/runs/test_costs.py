"""What a run has cost: seconds of training and of scoring."""

from __future__ import annotations

from lgl_bench.runs.costs import Cost, costs
from lgl_bench.runs.records import FitRecord, dump_fit, parse_fit
from tests.support.command_line import as_json, run


def record(seconds, scoring, status="ok"):
    return FitRecord(status=status, key="k", time=3, role="test", seconds=seconds, scoring_seconds=scoring)


def test_training_is_counted_once_per_fit_and_scoring_once_per_detector():
    found = costs([record(8.0, {"msp": 1.0, "vim": 2.0}), record(2.0, {"msp": 0.5}), record(4.0, {"gdoc": 1.0})])
    assert found.all == Cost(3, 14.0, 4.5)
    assert found.shared == Cost(1, 8.0, 3.0) and found.shared.share == 0.375
    assert found.detectors == {"msp": Cost(2, 10.0, 1.5), "vim": Cost(1, 8.0, 2.0), "gdoc": Cost(1, 4.0, 1.0)}


def test_fits_that_failed_or_whose_scoring_was_not_timed_do_not_count():
    found = costs([record(8.0, {"msp": 1.0}, "diverged"), record(None, {"msp": 1.0}), record(5.0, {})])
    assert found.all == Cost() and found.all.share is None and not found.detectors


def test_seconds_of_scoring_are_kept_and_a_record_without_them_is_read():
    kept = record(8.0, {"msp": 1.25})
    assert parse_fit(dump_fit(kept), "fit.json") == kept
    old = b'{"status": "ok", "key": "k", "time": 3, "role": "test", "seconds": 2.5}'
    assert parse_fit(old, "fit.json").scoring_seconds == {}


def test_status_says_what_training_and_scoring_took(data, out):
    chosen = ("--suite", "smoke", "--budget", "smoke", "--stream", "small", "--backbone", "gcn", "--threshold", "none")
    every = (*chosen, "--offline", "--engine", "in-process", "--out", out)
    assert run("run", *every, "--detector", "msp").exit_code == 0
    before = as_json("status", out, "--costs")
    assert "msp" in before["detectors"] and before["costs"]["fits"] == before["done"]
    assert run("run", *every, "--detector", "energy").exit_code == 0
    after = as_json("status", out, "--costs")
    assert {"msp", "energy(temperature=1.0)"} < set(after["detectors"])
    assert after["costs"]["training_seconds"] == before["costs"]["training_seconds"]  # nothing was trained again
    assert after["costs"]["scoring_seconds"] > before["costs"]["scoring_seconds"] > 0
    shown = run("status", out, "--costs").stdout
    assert "of the fits that several detectors share" in shown and "energy(temperature=1.0)" in shown
    assert "energy" not in run("status", out).stdout
