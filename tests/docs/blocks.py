"""The code blocks of the docs.

A block that needs what a test machine has not says so in a comment on the line before it: `<!-- needs a cluster -->` or
`<!-- needs real data -->`. A Python block whose first line is a comment with a file name (`# margin.py`) is that file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

AWAITED_COMMANDS = {"report"}
"""Commands the docs show before they exist; one that exists is held to what it takes."""
AWAITED_PAGES = {"cluster.md"}
"""Pages the navigation names before they exist."""

_FENCE = re.compile(
    r"(?:<!-- needs (?P<needs>[^>]*?) -->\n)?^```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        page: Its page, from the top of the repository.
        line: Line of its first line of code.
        language: What stands after the fence.
        text: What is in it.
        needs: What it cannot run without; empty where it needs nothing.
    """

    page: str
    line: int
    language: str
    text: str
    needs: str

    @property
    def file(self) -> str:
        """The name of the file the block is; empty where it is none."""
        found = re.match(r"# (\w+\.py)\n", self.text)
        return found[1] if found else ""

    @property
    def where(self) -> str:
        """Page and line, for messages."""
        return f"{self.page}:{self.line}"


def blocks_of(page: Path, *languages: str) -> list[Block]:
    """The blocks of a page in these languages, in order."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name
    found = [
        Block(
            name, text.count("\n", 0, match.start("text")) + 1, match["language"], match["text"], match["needs"] or ""
        )
        for match in _FENCE.finditer(text)
    ]
    return [block for block in found if block.language in languages]


def every_block(*languages: str) -> list[Block]:
    """The blocks of README, CONTRIBUTING and docs in these languages."""
    return [block for page in PAGES for block in blocks_of(page, *languages)]
