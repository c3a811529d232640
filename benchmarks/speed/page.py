"""Puts saved outputs of the benchmarks into docs/speed.md.

    python benchmarks/speed/training.py --before CHECKOUT > out/training.txt
    python benchmarks/speed/page.py out

A file NAME.txt replaces the block that follows the command `python benchmarks/speed/NAME.py` on the page; blocks
without a file stay as they are.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "speed.md"


def with_block(page: str, name: str, output: str) -> str:
    """The page with another block after the command of a benchmark.

    Args:
        page: Markdown.
        name: Of the benchmark.
        output: What it printed.

    Raises:
        LookupError: The page names no such command, or no block follows it.
    """
    command = re.escape(f"`python benchmarks/speed/{name}.py")
    block = re.compile(rf"({command}.*?^```text\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
    found, count = block.subn(lambda match: match[1] + output.strip("\n") + "\n", page, count=1)
    if not count:
        raise LookupError(f"{PAGE.name} has no block after `python benchmarks/speed/{name}.py`")
    return found


def main() -> None:
    """Writes the page anew."""
    page = PAGE.read_text(encoding="utf-8")
    for path in sorted(Path(sys.argv[1]).glob("*.txt")):
        page = with_block(page, path.stem, path.read_text(encoding="utf-8"))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
