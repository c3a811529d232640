"""The process that plugins are scored in: it imports the libraries once and forks a child for every request.

It has one thread and holds nothing but code, so that a child knows what is in its request and no more. Its control
channel brings single bytes: `s`, with three pipes, to start a child; `k` to end everything that is left of it. It sends
`ready`, `exit STATUS` and `gone`. When the channel ends, it ends, and every process below it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterable
from multiprocessing.connection import wait
from pathlib import Path
from typing import NoReturn

import psutil

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import reason_of
from lgl_bench.core.registry import load_plugin_file
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.runs.isolation.packing import read_record
from lgl_bench.runs.isolation.replies import encode_failure, encode_reply
from lgl_bench.runs.isolation.requests import Request, answer, warm_up
from lgl_bench.strategies import strategies
from lgl_bench.thresholds import thresholds

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_PATIENCE = 10.0


def main(channel: int) -> None:
    """Serves the other end of a socket until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asked decides when to end
    with socket.socket(fileno=channel) as control, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        _serve(control)


def _serve(control: socket.socket) -> None:
    for registry in (backbones, heads, strategies, detectors, thresholds):
        registry.import_built_in()
    warm_up()
    _adopt_orphans()
    bell, ring = os.pipe()
    for end in (bell, ring):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(ring)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Libraries may have threads that take no part in a fork.
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
    gc.collect()
    gc.freeze()  # children share these pages
    control.sendall(b"ready\n")
    child = 0
    while True:
        ready = wait([control, bell])
        if bell in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(bell, 4096)
        status = _reap(child)
        if status is not None:
            control.sendall(f"exit {status}\n".encode())
        if control not in ready:
            continue
        command, pipes, _, _ = socket.recv_fds(control, 1, 3)
        if command == b"s":
            child = _start(pipes, (control.fileno(), bell, ring))
        elif command == b"k":
            _end_children()
            control.sendall(b"gone\n")
        else:
            _end_children()
            return


def _start(pipes: list[int], closed: Iterable[int]) -> int:
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        for own in closed:
            os.close(own)
        _answer(*pipes)
    for pipe in pipes:
        os.close(pipe)
    return child


def _answer(asked: int, answered: int, log: int) -> NoReturn:
    """A child: one request in, one reply out. Whatever the plugin does to this process ends with it."""
    me = os.getpid()
    try:
        os.setsid()
        for standard in (1, 2):
            os.dup2(log, standard)
        with open(asked, "rb", buffering=0) as file:
            request, memory = read_record(file)
        pieces = _pieces(request, memory)
        if os.getpid() == me:  # a plugin that forks may return twice; only one of them is asked
            for piece in pieces:
                _write(answered, piece)
    finally:
        os._exit(0 if os.getpid() == me else 1)


def _pieces(request: Request, memory: int) -> list[bytes]:
    try:
        _limit(memory)
        for file in request.files:
            load_plugin_file(file)
        return list(encode_reply(request, answer(request)))
    except MemoryError:
        return list(encode_failure(f"it took more than the memory limit of {memory / 2**20:,.0f} MiB"))
    except BaseException as error:  # a plugin may raise anything, sys.exit included
        return list(encode_failure(reason_of(error)))


def _limit(memory: int) -> None:
    """No more than so many bytes of data beyond what is there; no core file.

    A system without such limits relies on the one who asked, who looks at the memory that is held.
    """
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    statistics = Path("/proc/self/statm")
    if statistics.is_file():
        held = int(statistics.read_text(encoding="ascii").split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (held + memory, held + memory))


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while len(view):
        view = view[os.write(file, view) :]


def _reap(child: int) -> int | None:
    """Collects every process that ended; returns the status of the child if it was among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                found = os.waitstatus_to_exitcode(status)
    return found


def _end_children() -> None:
    """Ends every process below this one, daemons included: orphans come to this process."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        below = psutil.Process().children(recursive=True)
        if not below:
            return
        for process in below:
            with contextlib.suppress(psutil.Error):
                process.kill()
        _reap(0)
        time.sleep(0.002)


def _adopt_orphans() -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)
