"""Plugins that are not built in, each in a process of its own: who asks it, waits for it, and ends it.

A process gets a request and returns a reply. It has no way to the truth, to the stream or to other plugins' objects,
and what it changes, prints, opens, forks or allocates ends with it.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from typing import IO, Any, TypeAlias

import psutil

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import LglBenchError, PluginError, UsageError, printable
from lgl_bench.core.expressions import parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.processes import start_module
from lgl_bench.core.registry import PluginFile, Registry, load_plugin
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.plans.plan import Plan
from lgl_bench.protocols import protocols
from lgl_bench.runs.devices import memory
from lgl_bench.runs.isolation.packing import write_record
from lgl_bench.runs.isolation.replies import Inbox
from lgl_bench.runs.isolation.requests import Reply, Request, answer_here
from lgl_bench.runs.scoring import names_in
from lgl_bench.strategies import strategies
from lgl_bench.thresholds import thresholds

Files: TypeAlias = Mapping[tuple[str, str], PluginFile]
"""Plugin files by kind and name of the plugin."""

_ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),  # a fork keeps one thread
    "LIBXSMM_VERBOSE": "0",  # it would print the command of a process that aborts
}
_POLL = 0.1
_START = 300.0
_END = 15.0
_LAST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which plugins that are not built in are run.

    Attributes:
        files: See `plugin_files`; a process loads those of its request.
        time_limit: Seconds that a request may take, the import of the plugin included; None for no limit.
        memory_limit: MiB that a process and those it starts may hold; None for half of the machine's.
    """

    files: Files = field(default_factory=dict)
    time_limit: float | None = None
    memory_limit: float | None = None


class LimitError(PluginError):
    """A plugin was ended because it took too long or too much memory."""


def plugin_files() -> dict[tuple[str, str], PluginFile]:
    """The plugins that this process loaded from files."""
    registries: tuple[Registry[Any], ...] = (backbones, heads, detectors, thresholds, protocols, strategies)
    return {(one.kind, name): file for one in registries for name, file in one.files().items()}


def check_loadable(plan: Plan) -> None:
    """Raises if other processes could not load a plugin of the plan, because only the running script knows it."""
    for chain in plan.units:
        expressions = [parse(text) for text in (*plan.scored[chain], *plan.tried[chain])]
        named: list[tuple[Registry[Any], str]] = [(backbones, chain.backbone), (heads, chain.head)]
        named += [(protocols, chain.protocol.name), *((thresholds, parse(text).name) for text in plan.thresholds)]
        named += [(detectors, name) for expression in expressions for name in names_in(expression)]
        if chain.strategy.name:
            named.append((strategies, plugin_name(chain.strategy.name)))
        for registry, name in named:
            if not registry.loadable(name):
                raise UsageError(
                    f"the {registry.kind} '{name}' is registered by the running script, which worker processes do not "
                    "load; run with jobs=1, or put it into a file of its own and give that with plugins=[...]"
                )


class Isolation:
    """Answers requests in processes of their own, one at a time.

    What only the running script knows cannot be loaded elsewhere, and is answered in this process (`answer_here`).

    Args:
        conditions: Files and limits.
        on_wait: Called with True before a process is started for a request, and with False when that has ended.
    """

    def __init__(self, conditions: Conditions, on_wait: Callable[[bool], None] = lambda waiting: None) -> None:
        self.files, self.time_limit, self.on_wait = conditions.files, conditions.time_limit, on_wait
        self.memory_limit = conditions.memory_limit or memory() / 2
        self._server: _Server | None = None
        self._ended: dict[tuple[str, ...], str] = {}

    def __call__(self, request: Request) -> Reply:
        """The reply.

        Raises:
            PluginError: The plugin failed; the message says why.
        """
        if not all(registry.loadable(name) for registry, name in request.plugins()):
            return answer_here(request)
        named = tuple((registry.kind, name) for registry, name in request.plugins())
        # Once is enough: a plugin that hangs would cost the time limit again in every unit.
        key = (*(name for _, name in named), str(request.part))
        if key in self._ended:
            raise LimitError(f"{self._ended[key]} (in an earlier unit of this run)")
        files = dict.fromkeys(self.files[one] for one in named if one in self.files)
        self.on_wait(True)
        try:
            return self._ready().ask(replace(request, files=tuple(files)), self.time_limit, self.memory_limit)
        except LimitError as error:
            self._ended[key] = str(error)
            raise
        finally:
            self.on_wait(False)

    def load(self, registry: Registry[Any], name: str) -> None:
        """Makes a plugin of a file known to this process: a protocol, which handles the truth by its nature."""
        file = self.files.get((registry.kind, name))
        if file is not None and name not in registry:
            load_plugin(file)

    def close(self) -> None:
        """Ends what is still running."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _ready(self) -> _Server:
        if self._server is not None and not self._server.alive:
            self.close()
        if self._server is None:
            self._server = _Server()
        return self._server


class _Server:
    """A `scoring_process`, as who started it sees it."""

    def __init__(self) -> None:
        self._control, other = socket.socketpair()
        with other:
            self._process = start_module("lgl_bench.runs.isolation.scoring_process", other.fileno(), **_ENVIRONMENT)
        self._received = bytearray()
        if self._line(_START) != "ready":
            self.close()
            raise LglBenchError("the process that plugins are scored in did not start; its output says why")

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Request, time_limit: float | None, memory_limit: float) -> Reply:
        """Has a new process answer, and ends all that is left of it."""
        until = time.monotonic() + time_limit if time_limit is not None else None
        inbox = Inbox(request, int(memory_limit * 2**20))
        with contextlib.ExitStack() as opened:
            asked, write_request = _pipe(opened)
            read_reply, answered = _pipe(opened)
            read_log, log = _pipe(opened)
            try:
                socket.send_fds(self._control, [b"s"], [end.fileno() for end in (asked, answered, log)])
                for end in (asked, answered, log):
                    end.close()
                with contextlib.suppress(BrokenPipeError), write_request:
                    write_record((request, int(memory_limit * 2**20)), write_request)
                for _ in self._listen(read_reply.fileno(), read_log.fileno(), inbox):
                    self._check_limits(until, time_limit, memory_limit)
            except OSError as error:
                raise PluginError(f"its process could not be reached: {printable(error)}") from error
            finally:
                self._end_children()
        return inbox.reply()

    def _listen(self, replies: int, log: int, inbox: Inbox) -> Iterator[None]:
        """Collects the reply; yields now and then."""
        open_ends: list[Any] = [replies, log, self._control]
        words = b""
        checked = time.monotonic()
        while not inbox.complete:
            ready = wait(open_ends, timeout=_POLL)
            if log in ready:
                printed = os.read(log, 2**16)
                words = (words + printed)[-_LAST_WORDS * 4 :]
                if not printed:
                    open_ends.remove(log)
            if replies in ready:
                data = os.read(replies, 2**20)
                inbox.feed(data)
                if not data:
                    open_ends.remove(replies)
            elif self._control in ready:
                # Only here: what was written before the end has been read by now.
                raise PluginError(f"its process {_fate(self._line(_END))}{_last(words)}")
            if time.monotonic() - checked > _POLL:
                checked = time.monotonic()
                yield

    def _check_limits(self, until: float | None, time_limit: float | None, memory_limit: float) -> None:
        if until is not None and time.monotonic() > until:
            raise LimitError(f"it took longer than the time limit of {time_limit:g} s")
        if self._memory() > memory_limit:
            raise LimitError(f"it took more than the memory limit of {memory_limit:,.0f} MiB")

    def _memory(self) -> float:
        """MiB held by the process and by those it started."""
        total = 0
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self._process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    total += process.memory_info().rss
        return total / 2**20

    def _end_children(self) -> None:
        try:
            self._control.sendall(b"k")
            while (line := self._line(_END)) != "gone":
                if line is None:
                    break
        except OSError:
            line = None
        if line is None:
            self.close()

    def _line(self, timeout: float) -> str | None:
        """The next line it sends; None if it is gone or silent."""
        until = time.monotonic() + timeout
        while b"\n" not in self._received:
            if not wait([self._control], timeout=max(0.0, until - time.monotonic())):
                return None
            try:
                data = self._control.recv(4096)
            except OSError:
                return None
            if not data:
                return None
            self._received += data
        line, _, rest = self._received.partition(b"\n")
        self._received = rest
        return line.decode("ascii", "replace")

    def close(self) -> None:
        """Ends it: by the end of its channel, after which it ends those below it; by force if it does not."""
        self._control.close()
        try:
            self._process.wait(timeout=_END)
        except Exception:
            self._process.kill()
            self._process.wait()


def _pipe(opened: contextlib.ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    """Both ends of a pipe; what is still open is closed with the stack."""
    reading, writing = os.pipe()
    return opened.enter_context(io.FileIO(reading, "rb")), opened.enter_context(_WholeWrites(writing, "wb"))


class _WholeWrites(io.FileIO):
    """Writes everything at once, whatever its size."""

    def write(self, data: Any, /) -> int:
        view = memoryview(data)
        while len(view):
            view = view[super().write(view) or 0 :]
        return len(data)


def _fate(line: str | None) -> str:
    """How a process ended, from its exit code.

    >>> _fate("exit -11"), _fate("exit 3")
    ('died of the signal SIGSEGV', 'died (exit code 3)')
    """
    if line is None or not line.startswith("exit "):
        return "is gone"
    code = int(line.removeprefix("exit "))
    if code >= 0:
        return f"died (exit code {code})" if code else "ended without an answer"
    known = {one.value: one.name for one in signal.Signals}
    return f"died of the signal {known.get(-code, -code)}"


def _last(words: bytes) -> str:
    text = printable(words.decode("utf-8", "replace")[-_LAST_WORDS:])
    return f"; it printed at last: {text}" if text else ""
