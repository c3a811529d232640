"""Processes that outlive the command they belong to: they are known by a mark in their environment."""

from __future__ import annotations

import time

import psutil

MARK = "LGL_BENCH_TEST_MARK"


def left_of(mark: str, patience: float = 10.0) -> list[list[str]]:
    """Command lines of the processes with that mark, once they have had time to end."""
    until = time.monotonic() + patience
    while found := [process.info["cmdline"] for process in psutil.process_iter(["cmdline"]) if _has(process, mark)]:
        if time.monotonic() > until:
            break
        time.sleep(0.1)
    return found


def _has(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
