"""Which process was writing a partial file, and whether it is still there."""

from __future__ import annotations

import os
from pathlib import Path


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
