"""The files of a run: whole or not at all, and held against their digests whenever they are read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.boards import open_board
from lgl_bench.plans.plan_file import read_plan
from lgl_bench.runs import store as store_module
from lgl_bench.runs.cleanup import remove_damaged
from lgl_bench.runs.options import Settings
from lgl_bench.runs.records import DamagedError, FitRecord, StoreWarning, dump_fit, parse_fit
from lgl_bench.runs.store import RunStore
from lgl_bench.submissions.bundle.pack import submit

KEY = "a" * 24
RECORD = FitRecord(status="ok", key=KEY, time=3, role="test", known=[0, 1])


def answers(**columns) -> pd.DataFrame:
    return pd.DataFrame({"vertex": [1, 2], "time": [3, 3], "class_pred": [0, 1], "confidence": [0.5, 0.5], **columns})


@pytest.fixture
def store(tmp_path) -> RunStore:
    found = RunStore(tmp_path / "store")
    found.prepare()
    found.write_fit(KEY, RECORD, b"weights", answers(**{"novelty:a": [0.1, 0.2]}), {"a": "one"})
    return found


def flip(path) -> None:
    """Turns one bit in the middle of a file over."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def test_columns_are_added_with_their_sources_and_others_stay(store):
    store.write_fit(KEY, store.fit(KEY), answers=answers(**{"novelty:b": [0.3, 0.4]}), sources={"b": "two"})
    assert list(store.columns(KEY))[4:] == ["novelty:a", "novelty:b"]
    assert store.sources(KEY) == {"a": "one", "b": "two"} and store.weights(KEY) == b"weights"
    store.write_fit(KEY, store.fit(KEY), answers=answers(**{"novelty:b": [1.0, 1.0]}), sources={"b": "3"}, replace=True)
    assert list(store.columns(KEY))[4:] == ["novelty:b"] and store.sources(KEY) == {"b": "3"}


def test_a_record_comes_back_as_it_was_written_and_bytes_do_not_depend_on_the_order_of_names():
    record = RECORD.but(failed={"b": "x", "a": "y"}, loss=float("inf"), matrix_row="0" * 64)
    assert parse_fit(dump_fit(record), "fit.json") == record
    assert dump_fit(record) == dump_fit(record.but(failed={"a": "y", "b": "x"}))


@pytest.mark.parametrize("name", ["fits/KEY/model.safetensors", "answers/KEY.parquet"])
def test_a_flipped_bit_is_noticed_on_reading_and_what_is_damaged_can_be_removed(store, name):
    flip(store.folder / name.replace("KEY", KEY))
    read = store.weights if "fits" in name else store.columns
    with pytest.raises(DamagedError, match=f"{name.rpartition('/')[2].replace('KEY', KEY)} is damaged.*command again"):
        read(KEY)
    (told,) = remove_damaged(store, [KEY, "b" * 24])
    assert "is damaged" in told and not (store.folder / name.replace("KEY", KEY)).exists()
    assert store.fit(KEY) is not None and remove_damaged(store, [KEY]) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "Invalid JSON"),
        ("[]", "should be an object"),
        ('{"status": "ok", "key": "k", "time": 3, "role": "test", "known": [0.5]}', "'known.0'"),
        ('{"status": "ok", "key": "k", "time": "3", "role": "test"}', "'time'"),
        ('{"status": "fine", "key": "k", "time": 3, "role": "test"}', "'status'"),
        ('{"status": "ok", "key": "k", "time": 3, "role": "test", "failed": {"x": 1}}', "'failed.x'"),
        ('{"status": "ok", "key": "k", "time": 3, "role": "test", "known": [99999999999999999999]}', "'known.0'"),
        ("[" * 100_000, "Invalid JSON"),
    ],
)
def test_an_odd_record_is_one_sentence_that_names_the_field(store, text, what):
    (store.folder / "fits" / KEY / "fit.json").write_text(text)
    with pytest.raises(DamagedError, match=f"fit.json is no record of a fit: .*{what}.*command again"):
        store.fit(KEY)
    assert len(remove_damaged(store, [KEY])) == 1 and store.fit(KEY) is None and not store.has_answers(KEY)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_kill_between_the_files_of_a_unit_leaves_answers_and_record_that_agree(store, monkeypatch, after):
    wrote = []

    def dies(folder, name, data, write=store_module.write_file):
        if len(wrote) == after:
            raise KeyboardInterrupt
        wrote.append(name)
        write(folder, name, data)

    monkeypatch.setattr(store_module, "write_file", dies)
    with pytest.raises(KeyboardInterrupt):
        store.write_fit(
            KEY, store.fit(KEY), answers=answers(**{"novelty:a": [0.9, 0.9], "novelty:b": [0.3, 0.4]}), sources=NEW
        )
    monkeypatch.undo()
    there = store.columns(KEY)
    is_new = "novelty:b" in there
    assert is_new == (after == 2)
    assert store.sources(KEY) == (NEW if is_new else {"a": "one"})
    assert there["novelty:a"].tolist() == ([0.9, 0.9] if is_new else [0.1, 0.2])


NEW = {"a": "two", "b": "two"}


def test_a_disk_that_takes_no_more_is_one_sentence_and_leaves_no_partial_file(store, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"fit\.json cannot be written: No space left on device"):
        store.write_fit(KEY, store.fit(KEY).but(reason="x"))
    assert not list(store.folder.rglob("*.partial")) and store.fit(KEY).reason == ""


def test_leftovers_of_processes_that_died_are_cleared(store):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = [store.folder / f".plan.json.{gone.pid}.partial", store.folder / "fits" / KEY / f".x.{gone.pid}.partial"]
    mine = store.folder / "answers" / f".{KEY}.parquet.{os.getpid()}.partial"
    for path in (*left, mine):
        path.touch()
    store.prepare()
    assert mine.exists() and not any(path.exists() for path in left)


WAITS = """
import sys, warnings
from pathlib import Path
from lgl_bench.runs.store import RunStore
warnings.showwarning = lambda message, *rest: print(message, flush=True)
with RunStore(Path(sys.argv[1])).alone():
    print("alone", flush=True)
"""


def test_a_second_run_waits_for_the_first_and_says_for_whom_and_a_dead_ones_lock_is_free(store):
    (store.folder / ".lock").write_text("1")  # somebody died
    with store.alone():
        other = subprocess.Popen([sys.executable, "-c", WAITS, store.folder], stdout=subprocess.PIPE, text=True)
        assert f"process {os.getpid()} is running in {store.folder}; this run waits" in other.stdout.readline()
        time.sleep(0.2)
        assert other.poll() is None
    assert other.communicate(timeout=30)[0] == "alone\n" and other.returncode == 0


@pytest.mark.usefixtures("engines")
def test_a_run_makes_what_is_damaged_again_with_a_warning_and_ends_as_before(out, carry_out):
    carry_out(detectors=["msp", "energy"], thresholds=["naive"])
    first, second, third = read_plan(out).fits
    files = [out / "answers" / f"{second}.parquet", out / "fits" / third / "model.safetensors"]
    before = [path.read_bytes() for path in files], (out / "leaderboard.csv").read_text().splitlines()[0]
    board = open_board(out).frame.drop(columns=["fit_seconds", "peak_memory_mb", "created_at"])
    for path in files:
        flip(path)
    with pytest.raises(DataError, match="is damaged"):
        submit(out, out.parent / "bundle")
    with pytest.warns(StoreWarning, match="is damaged.*; it is made again") as caught:
        result = carry_out(detectors=["msp", "energy"], thresholds=["naive"])
    assert len(caught) == 2 and not result.counts.failed
    assert files[0].read_bytes() == before[0][0]
    again = open_board(out).frame.drop(columns=["fit_seconds", "peak_memory_mb", "created_at"])
    pd.testing.assert_frame_equal(again, board)
    (out / "fits" / first / "fit.json").write_text("{}")
    with pytest.warns(StoreWarning, match=r"fit\.json is no record of a fit"):
        result = carry_out(detectors=["msp", "energy"], thresholds=["naive"])
    assert not result.counts.failed and np.array_equal(result.frame["accuracy_mean"], board["accuracy_mean"])


@pytest.mark.parametrize(
    ("text", "what"),
    [("{}", "no field 'chains'"), ("[1]", "holds no plan"), ("[" * 100_000, "cannot be read"), ('{"a": ', "be read")],
)
def test_an_odd_plan_is_one_sentence(tmp_path, text, what):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(DataError, match=what) as caught:
        read_plan(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("data")
def test_a_plan_holds_nothing_of_this_machine(out, carry_out, engines):
    carry_out(detectors=["msp"], thresholds=["none"], settings=Settings(out, data_dir=out.parent / "data"))
    text = (out / "plan.json").read_text()
    assert str(out.parent) not in text and json.loads(text)["chains"][0]["data_dir"] is None
