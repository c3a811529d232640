"""Which process was writing a partial file, and whether it is still there."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def pid_in(path: Path) -> int | None:
    """The process named in `.NAME.PID.partial`; None if there is none.

    >>> pid_in(Path(".cora.123.partial")), pid_in(Path(".cora.partial"))
    (123, None)
    """
    text = path.suffixes[-2].lstrip(".") if len(path.suffixes) > 1 else ""
    return int(text) if text.isdecimal() and text.isascii() else None


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not collected by its parent does not."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    with contextlib.suppress(OSError):  # where there is no /proc, a dead one counts until it is collected
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        return state != "Z"
    return True
