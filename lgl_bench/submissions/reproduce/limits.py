"""How long a command and everything it starts may take, and how much memory all of them may hold together."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

import psutil

from lgl_bench.core.errors import LglBenchError

_POLL = 0.2
_KEPT = 1 << 20
_PATIENCE = 5.0
_DIE_WITH_PARENT = 1  # of prctl


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a whole run.

    Attributes:
        seconds: Wall time.
        memory: MiB of all processes together; None for four fifths of the machine's.
    """

    seconds: float = 72 * 3600.0
    memory: float | None = None

    @property
    def mebibytes(self) -> float:
        """The memory limit, or the default."""
        return self.memory if self.memory is not None else 0.8 * psutil.virtual_memory().total / 2**20


class RunLimitError(LglBenchError):
    """A run that took too long or too much memory, and was ended."""


def run_limited(
    command: list[str], limits: Limits, *, cwd: str, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs a command; of what it prints the last MiB is kept. Nothing it started is left when this returns.

    Raises:
        RunLimitError: It was ended, because it came to a limit.
    """
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_end_with(os.getpid()),  # noqa: PLW1509 - no other thread is there yet that could hold a lock
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        tails = [_Tail(stream) for stream in (process.stdout, process.stderr)]
        try:
            _wait(process, limits)
        finally:
            _end(process)
            for tail in tails:
                # If the platform cannot end all it started, one of them may hold the pipe open.
                tail.join(_PATIENCE)
    return subprocess.CompletedProcess(command, process.returncode, *(tail.text for tail in tails))


def _end_with(parent: int) -> Callable[[], None] | None:
    """What a new process does before anything else, so that it ends with this one even if that ends right now."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl

    def end_with_parent() -> None:
        prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return end_with_parent


def _wait(process: subprocess.Popen[bytes], limits: Limits) -> None:
    end, most = time.monotonic() + limits.seconds, limits.mebibytes
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL)
            return
        if time.monotonic() > end:
            raise RunLimitError(
                f"the run took longer than {limits.seconds:g} s and was ended; --total-time-limit sets another limit"
            )
        held = sum(_mebibytes(one) for one in _family(process.pid))
        if held > most:
            raise RunLimitError(
                f"the run held {held:,.0f} MiB, more than {most:,.0f}, and was ended; --total-memory-limit sets "
                "another limit"
            )


def _family(pid: int) -> list[psutil.Process]:
    """A process and all that descend from it."""
    with contextlib.suppress(psutil.Error):
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    return []


def _mebibytes(process: psutil.Process) -> float:
    """Memory of a process; what it shares with others counts once among them, if the system knows."""
    with contextlib.suppress(psutil.Error):
        try:
            return float(process.memory_full_info().pss) / 2**20
        except (psutil.Error, AttributeError):
            return float(process.memory_info().rss) / 2**20
    return 0.0


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends all that descend from a process, those that appear meanwhile too; the process itself ends them or ends."""
    while process.poll() is None:
        family = _family(process.pid)
        for one in family[1:] or family:
            with contextlib.suppress(psutil.Error):
                one.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL)


class _Tail(threading.Thread):
    """Reads a pipe to its end and keeps the last of it, so that a command may print without end."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._kept = bytearray()
        self.start()

    def run(self) -> None:
        while chunk := os.read(self._stream.fileno(), _KEPT):
            self._kept += chunk
            del self._kept[:-_KEPT]

    @property
    def text(self) -> str:
        """What was kept."""
        return bytes(self._kept).decode(errors="replace")
