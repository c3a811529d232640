"""Writes the tables of published papers as leaderboard CSVs.

python benchmarks/published.py [--out leaderboard/published] [--force]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lgl_bench.leaderboard.published import SUITE, open_world_lgl
from lgl_bench.leaderboard.table.write import write_board


def main() -> None:
    """Writes one CSV per paper."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("leaderboard/published"))
    parser.add_argument("--force", action="store_true", help="replace what is there")
    given = parser.parse_args()
    path = given.out / f"{SUITE}.csv"
    write_board(open_world_lgl(), path, force=given.force)
    print(path)


if __name__ == "__main__":
    main()
