"""One case: an input made and damaged from its seed, read under a limit of time, and what came of it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from lgl_bench.core.errors import LglBenchError
from tests.fuzz.kinds import Kind

UNCHANGED = -1
"""The number of the case in which nothing is damaged: it must be accepted."""
CASE_SECONDS = 20.0
"""Of computing; three times as many on the clock, because other processes may have the cores."""
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case.

    Attributes:
        code: Exit code that belongs to it; -1 for a problem.
        problem: What was wrong, in one line that is the same for the same fault; "" for none.
        detail: Traceback of a problem, or the message of a refusal.
    """

    code: int
    problem: str = ""
    detail: str = ""


class _TooLongError(BaseException):
    """Raised by the alarm; no `except Exception` catches it."""


def run_case(kind: Kind, seed: int, number: int, scratch: Path) -> Result:
    """Makes, damages and reads one input; the same seed and number give the same input."""
    rng = random.Random(f"{kind.name}/{seed}/{number}")
    with tempfile.TemporaryDirectory(prefix="case-", dir=scratch, ignore_cleanup_errors=True) as name:
        source, out, temp = (Path(name) / part for part in ("input", "out", "tmp"))
        for folder in (source, out, temp):
            folder.mkdir()
        kind.make(source, rng)
        if number != UNCHANGED:
            _damage(kind, source, rng)
        before = _listing(source)
        with _alarm() as expired, _own_folders(out, temp):
            result = _outcome(kind, source, out)
        if expired:
            result = Result(-1, f"more than {CASE_SECONDS:.0f} seconds", result.detail)
        return result if result.problem else _left_behind(result, before, source, out, temp)


def _damage(kind: Kind, folder: Path, rng: random.Random) -> None:
    kind.mutate(folder, rng)
    for _ in range(rng.choice([0, 0, 0, 0, 1, 2])):
        with contextlib.suppress(Exception):
            kind.mutate(folder, rng)


def _outcome(kind: Kind, source: Path, out: Path) -> Result:
    try:
        kind.run(source, out)
    except LglBenchError as error:
        return _refusal(error)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else -1
        return Result(code) if code in (0, 1, 2, 3) else Result(-1, f"exit code {error.code!r}")
    except BaseException as error:
        return Result(-1, f"{type(error).__name__} {_place(error)}", traceback.format_exc()[-6000:])
    return Result(0)


def _refusal(error: LglBenchError) -> Result:
    """A sentence that can be printed, and no way to it through all of the memory."""
    message = str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return Result(-1, f"out of memory behind a {type(error).__name__} {_place(cause)}", traceback.format_exc())
        cause = cause.__cause__ or cause.__context__
    wrong = ""
    if "\n" in message or not message.strip():
        wrong = "is not one paragraph"
    elif len(message) > _LONGEST_MESSAGE:
        wrong = f"has more than {_LONGEST_MESSAGE} characters"
    elif message.encode("utf-8", "replace").decode() != message or "\0" in message:
        wrong = "cannot be printed"
    if wrong:
        return Result(-1, f"a message {wrong} {_place(error)}", ascii(message)[:2000])
    return Result(error.exit_code, "", message)


def _place(error: BaseException) -> str:
    """The deepest line of lgl-bench that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "lgl_bench" in Path(frame.filename).parts] or frames
    return f"at {Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else ""


def _left_behind(result: Result, before: set[str], source: Path, out: Path, temp: Path) -> Result:
    """A refusal leaves nothing; success leaves nothing temporary; the input stays as it was."""
    written = _listing(out)
    extra = _listing(temp) | (written if result.code else {path for path in written if Path(path).name[0] == "."})
    if extra:
        return Result(-1, "leftover files", ", ".join(sorted(extra))[:2000])
    if _listing(source) != before:
        return Result(-1, "the input was changed", ", ".join(sorted(_listing(source) ^ before))[:2000])
    return result


def _listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@contextlib.contextmanager
def _alarm() -> Iterator[list[bool]]:
    """Interrupts what takes too long, and notes that it did."""
    expired: list[bool] = []

    def ring(number: int, frame: FrameType | None) -> None:
        expired.append(True)
        raise _TooLongError

    clocks = {
        signal.SIGPROF: (signal.ITIMER_PROF, CASE_SECONDS),
        signal.SIGALRM: (signal.ITIMER_REAL, 3 * CASE_SECONDS),
    }
    before = {number: signal.signal(number, ring) for number in clocks}
    for clock, seconds in clocks.values():
        signal.setitimer(clock, seconds)
    try:
        yield expired
    finally:
        for number, (clock, _) in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


@contextlib.contextmanager
def _own_folders(out: Path, temp: Path) -> Iterator[None]:
    """Working folder and temporary files of the case lie inside it, so that what stays behind is seen."""
    here, kept, environment = Path.cwd(), tempfile.tempdir, os.environ.get("TMPDIR")
    os.chdir(out)
    tempfile.tempdir = os.environ["TMPDIR"] = str(temp)
    try:
        yield
    finally:
        os.chdir(here)
        tempfile.tempdir = kept
        if environment is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = environment
