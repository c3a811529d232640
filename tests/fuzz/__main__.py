"""The long pass: `python -m tests.fuzz --cases 2000 [--kind K] [--seed S]`.

Prints a line per kind and every class of problems with the command that shows one again; exits 1 if there are any.
`--case N` runs a single case and shows what came of it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.case import UNCHANGED, run_case
from tests.fuzz.child import limit_memory
from tests.fuzz.kinds import kinds
from tests.fuzz.runner import Tally, run_cases


def main() -> int:
    """Runs the kinds that were asked for; 1 where anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="cases per kind")
    parser.add_argument("--kind", action="append", choices=sorted(kinds()), help="may be given several times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only this case, in this process")
    parser.add_argument("--failures", type=Path, help="file for the failing cases, one command per line")
    given = parser.parse_args()
    chosen = given.kind or list(kinds())
    if given.case is not None:
        return _single(chosen, given.seed, given.case)
    _line("kind", "cases", "accepted", "exit 1", "exit 2", "exit 3", "problems", "seconds")
    again: list[str] = []
    for name in chosen:
        began = time.monotonic()
        tally = run_cases([(name, number) for number in range(UNCHANGED, given.cases)], given.seed)[name]
        problems = sum(len(found) for found in tally.problems.values())
        codes = [tally.codes[code] for code in range(4)]
        _line(name, sum(codes) + problems, *codes, problems, f"{time.monotonic() - began:.0f}")
        again += _show(name, given.seed, tally)
    if given.failures:
        given.failures.write_text("".join(f"{line}\n" for line in again))
    return 1 if again else 0


def _single(chosen: list[str], seed: int, number: int) -> int:
    problems = 0
    limit_memory()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        for name in chosen:
            result = run_case(kinds()[name], seed, number, Path(scratch))
            print(f"{name}: exit code {result.code} {result.problem}\n{result.detail}")
            problems += bool(result.problem)
    return 1 if problems else 0


def _show(name: str, seed: int, tally: Tally) -> list[str]:
    """Prints each class of problems once; returns the commands that repeat all of them."""
    commands = []
    for problem, found in sorted(tally.problems.items(), key=lambda item: -len(item[1])):
        lines = [f"python -m tests.fuzz --kind {name} --seed {seed} --case {number}" for number, _ in found]
        last = found[0][1].strip().splitlines()[-1:]
        print(f"    {len(found)} x {problem}: {' '.join(last)[:160]}\n        {lines[0]}", flush=True)
        commands += lines
    return commands


def _line(name: object, *cells: object) -> None:
    print(f"{name!s:<16}" + "".join(f"{cell!s:>10}" for cell in cells), flush=True)


if __name__ == "__main__":
    sys.exit(main())
