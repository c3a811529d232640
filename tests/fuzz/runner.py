"""Many cases in few processes: a child is started again after the case that ended it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.fuzz.case import CASE_SECONDS, Result
from tests.fuzz.kinds import find_kind

Job = tuple[str, int]
_ROOT = Path(__file__).resolve().parents[2]
_SILENCE = 3 * CASE_SECONDS + 20  # what does not even hear its alarm by then is stuck in C code, or waits for ever
_IMPORTS = 300.0  # seconds until the first case begins: a busy machine takes long to import torch
_CASES_PER_CHILD = 500  # so that what one case leaks does not count against the memory of a thousand others


@dataclass(slots=True)
class Tally:
    """What came of the cases of one kind."""

    codes: Counter[int] = field(default_factory=Counter)
    problems: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, number: int, result: Result) -> None:
        """Counts a case."""
        if result.problem:
            self.problems[result.problem].append((number, result.detail))
        else:
            self.codes[result.code] += 1


def run_cases(jobs: Sequence[Job], seed: int) -> dict[str, Tally]:
    """Runs cases of any kinds; whatever one of them does, all the others are run."""
    tallies: dict[str, Tally] = {}
    for name in dict.fromkeys(name for name, _ in jobs):
        prepare = find_kind(name).prepare
        if prepare is not None:
            prepare()
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as scratch:
        for (name, number), result in _results(list(jobs), seed, scratch):
            tallies.setdefault(name, Tally()).add(number, result)
    return tallies


def _results(jobs: list[Job], seed: int, scratch: str) -> Iterator[tuple[Job, Result]]:
    while jobs:
        batch = jobs[:_CASES_PER_CHILD]
        done = 0
        for job, result in _one_child(batch, seed, scratch):
            yield job, result
            done += 1
        jobs = jobs[done:]


def _one_child(jobs: list[Job], seed: int, scratch: str) -> Iterator[tuple[Job, Result]]:
    """Results until the jobs are done or the child is; its last case is then the problem."""
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "tests.fuzz.child", scratch, str(seed)]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command,
            cwd=_ROOT,
            env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as child,
    ):
        assert child.stdin and child.stdout
        child.stdin.write("".join(f"{name} {number}\n" for name, number in jobs))
        child.stdin.close()
        started: Job | None = None
        for line in _lines(child):
            if "start" in line:
                started = (line["start"][0], line["start"][1])
            else:
                started = None
                yield (line["done"][0], line["done"][1]), Result(line["code"], line["problem"], line["detail"])
        code = child.wait()
        if started is not None:
            yield started, Result(-1, _end(code), _tail(errors))
        elif code:
            raise RuntimeError(f"the child of the fuzzer ended with {code} outside of any case:\n{_tail(errors)}")


def _lines(child: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """What the child reports; it is killed once it says nothing for too long."""
    assert child.stdout
    patience = _IMPORTS
    while True:
        watch = threading.Timer(patience, child.kill)
        watch.start()
        try:
            line = child.stdout.readline()
        finally:
            watch.cancel()
        if not line.endswith("\n"):
            return
        patience = _SILENCE
        yield json.loads(line)


def _end(code: int) -> str:
    if code == -signal.SIGKILL:
        return f"no answer within {_SILENCE:.0f} seconds, or killed"
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"the process ended with {code}"


def _tail(errors: IO[bytes]) -> str:
    errors.seek(0)
    return errors.read().decode(errors="replace")[-4000:]
