"""Processes: starting one, which was writing a partial file, and whether it is still there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def start_module(module: str, channel: int, **environment: str) -> subprocess.Popen[bytes]:
    """Calls `main(channel)` of a module in a new Python, which finds modules where this one finds them.

    Other than a process of `multiprocessing` it does not import the script that is running, which then needs no guard.

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


def pid_in(path: Path) -> int | None:
    """The process named in `.NAME.PID.partial`; None where there is none.

    >>> pid_in(Path(".cora.123.partial")), pid_in(Path(".cora.partial"))
    (123, None)
    """
    text = path.suffixes[-2].lstrip(".") if len(path.suffixes) > 1 else ""
    return int(text) if text.isdigit() else None


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
