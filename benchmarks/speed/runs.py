"""How much of a run's wall time is not training and scoring, on the temporal suite at quick.

    python benchmarks/speed/runs.py [--out DIR] [--jobs N]

Runs the suite on the embedded twins in a fresh folder, as the README's first command does.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import lgl_bench
from lgl_bench.runs.devices import cores


def main() -> None:
    """Runs the suite and prints where the time went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=cores())
    parser.add_argument("--seeds", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = lgl_bench.run(
            "temporal", out=given.out or folder, jobs=given.jobs, seeds=given.seeds, offline=True, force=True
        )
    wall = result.seconds * given.jobs
    share = 1 - result.counts.busy_seconds / wall
    print(f"temporal at quick: {result.seconds:.0f} s on {given.jobs} processes, {result.counts.units} units")
    print(f"outside training and scoring: {share:.1%} of the wall time of all processes")


if __name__ == "__main__":
    main()
