"""The code blocks of the docs.

A block that needs what a test machine has not says so in a comment on the line before it: `<!-- needs a cluster -->` or
`<!-- needs real data -->`. A block is a file if its first line is a comment with a file name (`# margin.py`), or if
the line before it ends with one: "Save this as `margin.py`:".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(
    r"(?:<!-- needs (?P<needs>[^>]*?) -->\n)?^```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^```$", re.M | re.S
)
_NAMED = re.compile(r"`(?P<file>[\w./-]+\.\w+)`:\s*\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        page: Its page, from the top of the repository.
        line: Line of its first line of code.
        language: What stands after the fence.
        text: What is in it.
        needs: What it cannot run without; empty if it needs nothing.
        file: The name of the file the block is; empty if it is none.
    """

    page: str
    line: int
    language: str
    text: str
    needs: str
    file: str

    @property
    def where(self) -> str:
        """Page and line, for messages."""
        return f"{self.page}:{self.line}"


def blocks_of(page: Path, *languages: str) -> list[Block]:
    """The blocks of a page in these languages, in order; all of them if none is given."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name
    found = [
        Block(
            page=name,
            line=text.count("\n", 0, match.start("text")) + 1,
            language=match["language"],
            text=match["text"],
            needs=match["needs"] or "",
            file=_file(match["text"], text[: match.start()]),
        )
        for match in _FENCE.finditer(text)
    ]
    return [block for block in found if not languages or block.language in languages]


def every_block(*languages: str) -> list[Block]:
    """The blocks of README, CONTRIBUTING and docs in these languages."""
    return [block for page in PAGES for block in blocks_of(page, *languages)]


def _file(text: str, before: str) -> str:
    commented = re.match(r"# (\w+\.py)\n", text)
    named = _NAMED.search(before)
    return commented[1] if commented else named["file"] if named else ""
