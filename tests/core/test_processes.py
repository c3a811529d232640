from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from lgl_bench.core.processes import alive, peak_memory_mb, pid_in, writer_alive


def test_the_peak_is_at_least_what_the_process_holds_now():
    held = psutil.Process().memory_info().rss / 2**20
    assert held * 0.5 < peak_memory_mb() < psutil.virtual_memory().total / 2**20


def test_without_the_module_resource_the_peak_is_what_windows_tells(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    told = SimpleNamespace(memory_info=lambda: SimpleNamespace(peak_wset=3 * 2**20))
    monkeypatch.setattr(psutil, "Process", lambda *given: told)
    assert peak_memory_mb() == 3.0


def test_a_process_is_alive_until_it_ends_and_a_later_one_of_the_same_number_is_another():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert alive(process.pid) and alive(process.pid, time.time() + 60)
    assert not alive(process.pid, time.time() - 3600), "it ran an hour ago, so it is not this one"
    process.communicate(b"\n")
    assert not alive(process.pid) and not alive(2**40)


@pytest.mark.parametrize("name", [".cora.partial", "cora", ".cora.x1.partial", ".cora.١٢.partial"])
def test_a_name_without_a_number_names_no_process(tmp_path, name):
    assert pid_in(tmp_path / name) is None and writer_alive(tmp_path / name) is None


def test_a_file_that_is_gone_has_no_writer(tmp_path):
    path = tmp_path / f".cora.{os.getpid()}.partial"
    assert pid_in(path) == os.getpid() and writer_alive(path) is False
    path.touch()
    assert writer_alive(path) is True
