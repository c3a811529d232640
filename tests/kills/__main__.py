"""`python -m tests.kills --kills 100`: commands killed at random moments; see `killing`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.kills.killing import Killing


def main() -> None:
    """Kills, checks, and counts."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description="Kill commands at random moments.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        killing = Killing(Path(folder), given.seed)
        for number in range(given.kills):
            sys.stdout.write(f"{number + 1:4} {killing.kill(number)}\n")
            sys.stdout.flush()
        killing.end()
    for what, count in sorted(killing.counts.items()):
        sys.stdout.write(f"{count:4} {what}\n")
    sys.stdout.write(f"{given.kills} kills, seed {given.seed}: nothing lost, nothing doubled, nothing left\n")


if __name__ == "__main__":
    main()
