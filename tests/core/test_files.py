"""Atomic files and folders: what a reader can see at any moment, and what a killed process leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lgl_bench.core import files
from lgl_bench.core.processes import alive

DEAD = 2**22 + 1
"""No process has this number: it is above the largest that Linux gives."""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole(tmp_path):
    place = tmp_path / "a.txt"
    files.write_text(place, "old")
    with files.writing(place) as partial:
        partial.write_text("new")
        assert place.read_text() == "old"
    assert place.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_a_file_whose_writing_raises_leaves_the_old_one_and_nothing_else(tmp_path):
    files.write_text(tmp_path / "a.txt", "old")
    with pytest.raises(KeyboardInterrupt), files.writing(tmp_path / "a.txt") as partial:
        partial.write_text("half")
        raise KeyboardInterrupt
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_is_replaced_by_the_new_one_with_and_without_an_exchange(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(files, "_exchange", lambda one, other: False)
    for text in ("first", "second"):
        with files.building(tmp_path / "site") as folder:
            (folder / f"{text}.html").write_text(text)
    assert names(tmp_path) == ["site"]
    assert names(tmp_path / "site") == ["second.html"]


def test_folders_are_exchanged_in_one_step_here(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (one / "a").touch()
    if not files._exchange(one, other):
        pytest.skip("this file system cannot exchange two folders")
    assert names(other) == ["a"] and not names(one)


def test_a_folder_whose_building_raises_leaves_the_old_one_and_nothing_else(tmp_path):
    with files.building(tmp_path / "site") as folder:
        (folder / "a").touch()
    with pytest.raises(SystemExit), files.building(tmp_path / "site") as folder:
        (folder / "b").touch()
        raise SystemExit
    assert names(tmp_path) == ["site"]
    assert names(tmp_path / "site") == ["a"]


def test_a_folder_that_cannot_take_its_place_leaves_the_old_one(tmp_path, monkeypatch):
    with files.building(tmp_path / "site") as folder:
        (folder / "a").touch()
    monkeypatch.setattr(files, "_exchange", lambda one, other: False)
    with pytest.raises(FileNotFoundError), files.building(tmp_path / "site") as folder:
        folder.rmdir()
    assert names(tmp_path) == ["site"]
    assert names(tmp_path / "site") == ["a"]


def test_leftovers_of_dead_processes_at_the_same_place_are_cleared_and_no_others(tmp_path):
    kept = [f".site.{os.getppid()}.partial", f".sites.{DEAD}.partial", ".site.partial", ".site.x.partial", "site.1.old"]
    for name in (*kept, f".site.{DEAD}.partial", f".site.{os.getpid()}.partial"):
        (tmp_path / name).mkdir()
    (tmp_path / f".site.{DEAD}.old").write_text("a file")
    (tmp_path / "site").mkdir()
    files.clear_leftovers(tmp_path / "site")
    assert names(tmp_path) == sorted([*kept, "site"])


def test_what_a_killed_process_moved_out_of_the_way_is_put_back(tmp_path):
    (tmp_path / f".site.{DEAD}.old").mkdir()
    (tmp_path / f".site.{DEAD}.old" / "a").touch()
    (tmp_path / f".site.{DEAD}.partial").mkdir()
    files.clear_leftovers(tmp_path / "site")
    assert names(tmp_path) == ["site"]
    assert names(tmp_path / "site") == ["a"]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a").touch()
    (tmp_path / "site").symlink_to("kept")
    with files.building(tmp_path / "site"):
        pass
    assert names(tmp_path / "kept") == ["a"]
    assert not (tmp_path / "site").is_symlink()


def test_temporary_folders_of_dead_processes_are_cleared_for_the_same_purpose_only(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = [f"lgl-bench-again-{DEAD}-x", f"lgl-bench-bundle-{os.getppid()}-x", "lgl-bench-bundle-mine"]
    for name in (*kept, f"lgl-bench-bundle-{DEAD}-x"):
        (tmp_path / name).mkdir()
    with files.temporary_folder("bundle") as folder:
        assert folder.name.startswith(f"lgl-bench-bundle-{os.getpid()}-")
        assert len(names(tmp_path)) == 4
    assert names(tmp_path) == kept


def test_a_killed_process_that_nobody_has_collected_is_not_alive():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        assert alive(process.pid)
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not alive(process.pid)


def test_what_is_no_file_is_not_replaced_by_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="something else than a file is there"):
        files.write_text(tmp_path / "pipe", "x")
    assert (tmp_path / "pipe").is_fifo() and names(tmp_path) == ["pipe"]
