"""Processes: starting one, its memory, which was writing a partial file, and whether it is still there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_CLOCK = 2.0
"""Seconds by which the start of a process may seem later than what it wrote."""


def start_module(module: str, channel: int, **environment: str) -> subprocess.Popen[bytes]:
    """Calls `main(channel)` of a module in a new Python, which finds modules where this one finds them.

    Unlike a process of `multiprocessing` it does not import the script that is running, which then needs no guard.

    Args:
        module: By its full name.
        channel: A file descriptor that the new process inherits, and by whose end it knows that this one is gone.
        environment: Variables that are set beside those of this process.
    """
    paths = [path for path in sys.path if isinstance(path, str)]
    code = f"import sys; sys.path[:] = {paths!r}; from {module} import main; main({channel})"
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        pass_fds=[channel],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def peak_memory_mb() -> float:
    """The most memory that this process has held, in MiB."""
    try:
        import resource
    except ImportError:  # there is none on Windows, whose peak psutil knows
        import psutil

        return float(getattr(psutil.Process().memory_info(), "peak_wset", 0)) / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def pid_in(path: Path) -> int | None:
    """The process named in `.NAME.PID.partial`; None if there is none.

    >>> pid_in(Path(".cora.123.partial")), pid_in(Path(".cora.partial"))
    (123, None)
    """
    text = path.suffixes[-2].lstrip(".") if len(path.suffixes) > 1 else ""
    return int(text) if text.isdecimal() and text.isascii() else None


def alive(pid: int, at: float | None = None) -> bool:
    """Whether a process runs; one that has ended and was not collected by its parent does not.

    Args:
        pid: Its number.
        at: A time at which it ran, in seconds since 1970: numbers are given again, to processes that start later.
    """
    import psutil

    try:
        if not psutil.pid_exists(pid):  # threads have numbers too, and are no processes
            return False
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and (at is None or process.create_time() <= at + _CLOCK)
    except (psutil.NoSuchProcess, OverflowError):
        return False
    except psutil.AccessDenied:
        return True


def writer_alive(path: Path) -> bool | None:
    """Whether the process that is writing `.NAME.PID.partial` runs; None if it names none."""
    pid = pid_in(path)
    if pid is None:
        return None
    try:
        return alive(pid, path.lstat().st_mtime)
    except OSError:
        return False
