"""A short pass over all kinds with a fixed seed; `python -m tests.fuzz` is the long one."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from lgl_bench.core.errors import DataError
from tests.fuzz import case
from tests.fuzz.case import UNCHANGED, run_case
from tests.fuzz.kinds import Kind, kinds
from tests.fuzz.runner import run_cases

CASES = 40
FEWER = {"run-store": 16}
"""Of a kind whose every case reads a whole run, which takes as long as the cases of all other kinds together."""


def test_every_damaged_input_ends_in_success_or_in_a_sentence_with_its_exit_code() -> None:
    jobs = [(name, number) for name in kinds() for number in range(FEWER.get(name, CASES))]
    tallies = run_cases(jobs, seed=12)
    assert {name: dict(tally.problems) for name, tally in tallies.items() if tally.problems} == {}


def test_every_kind_begins_with_an_input_that_is_accepted() -> None:
    tallies = run_cases([(name, UNCHANGED) for name in kinds()], seed=12)
    assert {name: tally for name, tally in tallies.items() if tally.codes != {0: 1}} == {}


def crash(source: Path, out: Path) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


CRASHING = Kind("crashing", lambda folder, rng: None, lambda folder, rng: None, crash)


def test_a_case_that_kills_its_process_is_a_problem_and_the_next_one_is_run() -> None:
    valid = next(iter(kinds()))
    tallies = run_cases([("tests.fuzz.test_short:CRASHING", 3), (valid, UNCHANGED)], seed=0)
    assert list(tallies["tests.fuzz.test_short:CRASHING"].problems) == ["signal SIGSEGV"]
    assert tallies[valid].codes == {0: 1}


def leave_a_file_behind(source: Path, out: Path) -> None:
    (out / "half").write_text("")
    raise DataError("refused")


def run_out_of_memory(source: Path, out: Path) -> None:
    try:
        raise MemoryError
    except MemoryError as error:
        raise DataError("cannot be read") from error


def wait_for_ever(source: Path, out: Path) -> None:
    while True:
        try:
            time.sleep(60)
        except Exception:  # a reader that catches everything must not get past its limit
            continue


def raise_anything(source: Path, out: Path) -> None:
    {}["missing"]


def say_nothing(source: Path, out: Path) -> None:
    raise DataError(" ")


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (leave_a_file_behind, "leftover files"),
        (run_out_of_memory, "out of memory"),
        (wait_for_ever, "more than"),
        (raise_anything, "KeyError"),
        (say_nothing, "not one paragraph"),
    ],
)
def test_a_reader_that_misbehaves_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: object, problem: str
) -> None:
    monkeypatch.setattr(case, "CASE_SECONDS", 0.2)
    kind = Kind("odd", lambda folder, rng: None, lambda folder, rng: None, run)  # type: ignore[arg-type]
    assert problem in run_case(kind, 0, 0, tmp_path).problem


def test_the_same_seed_and_number_give_the_same_input(tmp_path: Path) -> None:
    seen: list[float] = []

    def make(folder: Path, rng: random.Random) -> None:
        seen.append(rng.random())

    kind = Kind("odd", make, lambda folder, rng: None, lambda source, out: None)
    for number in (1, 1, 2):
        run_case(kind, 0, number, tmp_path)
    assert seen[0] == seen[1] != seen[2]
