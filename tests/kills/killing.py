"""Commands that are killed at random moments, and what must hold after each kill and in the end.

After every kill: what was there before is there still, whole, and no process is left. After a last, undisturbed
command: the output is the one of a command that was never killed, and nothing half-made is beside it.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from lgl_bench.streams.store import write_stream
from lgl_bench.streams.stream import Stream
from tests.kills.outputs import digests, fits, leftovers
from tests.support.commands import environment, run_command, wait_for_session
from tests.support.graphs import small_stream

RUN = (
    *("lgl-bench", "run", "--suite", "smoke", "--budget", "smoke", "--stream", "small", "--backbone", "gcn"),
    *("--detector", "msp", "--detector", "good(msp)", "--threshold", "naive", "--jobs", "1"),
)
_LONGEST = 600.0
_POLL = 0.002
Seen = frozenset[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is killed.

    Attributes:
        name: What it is called in the summary.
        words: How it is given; OUT stands for what it makes.
        out: What it makes, from the working folder.
    """

    name: str
    words: tuple[str, ...]
    out: str

    def given(self) -> list[str]:
        """The words of the command."""
        return [word.replace("OUT", self.out) for word in self.words]


IMPORT = ("data", "import", "imported", "--from", "source", "--t0", "1", "--option", "features=f_*", "--force")
COMMANDS = (
    Command("run", (*RUN, "--out", "OUT"), "run-0"),
    Command("import", ("lgl-bench", *IMPORT), "data/imported"),
    Command("report", ("lgl-bench", "report", "run-0", "--html", "OUT", "--force"), "site"),
    Command("build", ("lgl-bench", "leaderboard", "build", "run-0", "--out", "OUT", "--force"), "board.csv"),
    Command("submit", ("lgl-bench", "submit", "run-0", "--to", "OUT", "--force"), "bundle.zip"),
    Command("submit a folder", ("lgl-bench", "submit", "run-0", "--to", "OUT", "--force"), "bundle"),
)


@dataclass(frozen=True, slots=True)
class Reference:
    """What an undisturbed command makes, and its seconds to the first sign of work, and from there to its end."""

    made: dict[str, str]
    start: float
    work: float


class Killing:
    """A folder in which commands are killed.

    Args:
        folder: An empty folder.
        seed: Of moments and signals.
        commands: Those that are killed, in turns; the first is the run that the others work on.
    """

    def __init__(self, folder: Path, seed: int, commands: Sequence[Command] = COMMANDS) -> None:
        self.random = random.Random(seed)
        self.here, self.temporary = folder / "here", folder / "tmp"
        self.variables = {**environment(folder), "LGL_BENCH_DATA": str(self.here / "data")}
        self.counts: Counter[str] = Counter()
        stream = small_stream()
        write_stream(stream, self.here / "data" / "small")
        write_tables(stream, self.here / "source")
        self.references = {command.name: self._undisturbed(command) for command in commands}
        # One that takes up where it was killed works in a folder of its own, and in a new one once it has finished.
        self.commands = [replace(one, out="run-1") if one.name == "run" else one for one in commands]

    def kill(self, number: int) -> str:
        """Starts one of the commands, ends it at a random moment, and checks what it leaves; says what was killed when.

        Args:
            number: Of the kill, from 0: commands take turns.
        """
        turn = number % len(self.commands)
        command = self.commands[turn]
        place, reference = self.here / command.out, self.references[command.name]
        before, fits_before = digests(place), fits(place)
        how = self.random.choice([signal.SIGKILL, signal.SIGTERM])
        early = self.random.random() < 0.2
        pause = self.random.uniform(0, reference.start if early else reference.work)
        seen = self._seen()
        with self._started(command) as process:
            if not early:
                self._wait_for_sign(process, seen)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=pause)
            finished = process.poll() is not None
            process.send_signal(how)
            _, error = process.communicate(timeout=_LONGEST)
        moment = "had finished" if finished else f"{how.name}, {'starting' if early else 'at work'}"
        told = f"{command.name}: {moment}"
        self.counts[told] += 1
        shown = f"{' '.join(command.given())}\n{moment}, {pause:.3f} s: exit code {process.returncode}\n{error}"
        expected = {0} if finished else {0, -how, 128 + how}
        assert process.returncode in expected, shown
        left = wait_for_session(process.pid, grace=60)
        assert not left, f"{shown}\nprocesses are left: {left}"
        if command.name != "run":
            now = digests(place)
            assert now == reference.made or not (before or now), f"{shown}\nthe output is lost or not whole"
            return told
        assert fits_before.items() <= fits(place).items(), f"{shown}\na fit is lost"
        assert fits(place).items() <= fits(self.here / "run-0").items(), f"{shown}\na fit is not the one it should be"
        if process.returncode == 0:
            self.finish(command)
            self.commands[turn] = replace(command, out=f"run-{int(command.out[4:]) + 1}")
        return told

    def finish(self, command: Command) -> None:
        """Gives a command once more, undisturbed: its output is as if nothing had happened."""
        ended = run_command(command.given(), self.here, self.variables, _LONGEST)
        assert ended.code == 0, ended.err
        assert not ended.left
        assert digests(self.here / command.out) == self.references[command.name].made

    def end(self) -> None:
        """Finishes every command; nothing half-made is left anywhere."""
        for command in self.commands:
            self.finish(command)
        left = leftovers(self.here, self.temporary)
        assert not left, f"left behind: {left}"

    def _undisturbed(self, command: Command) -> Reference:
        begun, seen = time.monotonic(), self._seen()
        with self._started(command) as process:
            self._wait_for_sign(process, seen)
            start = time.monotonic() - begun
            _, error = process.communicate(timeout=_LONGEST)
        assert process.returncode == 0, error
        made = digests(self.here / command.out)
        assert made
        return Reference(made, start, time.monotonic() - begun - start)

    def _started(self, command: Command) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command.given(),
            cwd=self.here,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _seen(self) -> Seen:
        """All files, with what tells one from its successor of the same name."""
        found = set()
        for folder in (self.here, self.temporary):
            for place, folders, names in os.walk(folder):
                for name in (*folders, *names):
                    try:
                        state = os.lstat(f"{place}/{name}")
                    except OSError:
                        continue  # it has gone meanwhile
                    found.add((f"{place}/{name}", state.st_ino, state.st_mtime_ns))
        return frozenset(found)

    def _wait_for_sign(self, process: subprocess.Popen[str], seen: Seen) -> None:
        until = time.monotonic() + _LONGEST
        while process.poll() is None and self._seen() == seen and time.monotonic() < until:
            time.sleep(_POLL)


def write_tables(stream: Stream, folder: Path) -> None:
    """A stream as two tables, to import."""
    folder.mkdir(parents=True)
    features = pd.DataFrame(stream.features).add_prefix("f_")
    vertices = pd.DataFrame({"id": stream.ids, "time": stream.born, "label": stream.labels})
    pd.concat([vertices, features], axis=1).to_csv(folder / "vertices.csv", index=False)
    pd.DataFrame(stream.ids[stream.arcs[:, ::2].T], columns=["source", "target"]).to_csv(
        folder / "edges.csv", index=False
    )
