"""The process that runs cases: a line before and after each one, so that the parent knows where it died.

    python -m tests.fuzz.child SCRATCH SEED < jobs

Jobs are lines of `KIND NUMBER`. What a reader prints goes nowhere; memory beyond 2 GiB is refused by the kernel.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

from tests.fuzz.case import run_case
from tests.fuzz.kinds import find_kind

MEMORY = 2 * 2**30


def main(scratch: Path, seed: int) -> None:
    """Runs the jobs on stdin, one after the other."""
    jobs = [line.split() for line in sys.stdin.read().splitlines()]
    report = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    known = {name: find_kind(name) for name in dict.fromkeys(name for name, _ in jobs)}
    limit_memory()
    for name, number in jobs:
        print(json.dumps({"start": [name, int(number)]}), file=report, flush=True)
        result = run_case(known[name], seed, int(number), scratch)
        print(json.dumps({"done": [name, int(number)], **asdict(result)}), file=report, flush=True)


def limit_memory() -> None:
    """Lets this process have 2 GiB beside what it has by now."""
    # Data rather than address space: maps of libraries and of files count for nothing there.
    resource.setrlimit(resource.RLIMIT_DATA, (_data_bytes() + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _data_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
