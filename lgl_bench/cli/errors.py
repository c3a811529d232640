"""What a command says of an error that reached its top, and the exit code that belongs to it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

from lgl_bench.core.errors import DataError, LglBenchError, printable, quoted

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_OURS = {errno.EACCES, errno.EPERM, errno.EROFS}


def explained(error: BaseException) -> tuple[str, int] | None:
    """One sentence and the exit code; None for an error that nobody foresaw, which keeps its traceback.

    Layers below say what they were doing and raise an error of our own. What else can happen anywhere stands here: a
    disk that is full or not ours, a name that no file can have, memory that runs out, text that is none.
    """
    if isinstance(error, LglBenchError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        return _of_files(error), DataError.exit_code
    if isinstance(error, UnicodeError):
        return f"a text cannot be read or written: {printable(error)}; give it in UTF-8", DataError.exit_code
    if isinstance(error, RecursionError):
        return "what was given nests too deeply to be read", DataError.exit_code
    if isinstance(error, MemoryError):
        return (
            "the memory does not suffice; take fewer --jobs, a smaller --budget or less data",
            LglBenchError.exit_code,
        )
    return None


def drop_unwritable_output() -> None:
    """Lets go of what can no longer be printed; Python would try once more on its way out, and say so."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _of_files(error: OSError) -> str:
    # What Arrow raises of a full disk has the number of the system's error, but a text of its own.
    reason = os.strerror(error.errno) if error.errno in _FULL else printable(error.strerror or error)
    place = quoted(os.fsdecode(error.filename), 300) if isinstance(error.filename, str | bytes) else "a file"
    if error.errno in _FULL:
        remedy = "free some space and run the same command again"
    elif error.errno in _NOT_OURS:
        remedy = "choose another place, or get the right to use this one"
    else:
        remedy = "choose another place"
    return f"{place} cannot be written or read: {reason}; {remedy}"
