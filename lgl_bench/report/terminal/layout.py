"""Aligned columns that fit a width: what matters least gives way first, and a name is wrapped, never cut."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

MIN_WIDTH = 40
"""A narrower terminal breaks lines itself."""
TEXT_WIDTH = 100
"""Sentences are not set wider than this."""
UNLIMITED = 100_000
_GAP = "  "
_BREAK_AFTER = "(,=-_ ·"


@dataclass(slots=True)
class Column:
    """A column of text.

    Attributes:
        header: Its name; wrapped at underscores if there is little room.
        cells: One per row.
        right: Whether its cells stand to the right, as numbers do.
        narrow: The same with fewer characters, such as a mean without its interval; None if there is nothing to save.
        needed: Whether it is never left out.
    """

    header: str
    cells: list[str]
    right: bool = False
    narrow: list[str] | None = None
    needed: bool = False
    _headers: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cells = [clean(cell) for cell in self.cells]
        self._headers = [self.header]

    @property
    def width(self) -> int:
        """Of its widest cell."""
        return max(map(text_width, (*self._headers, *self.cells)), default=0)

    def fold_header(self) -> None:
        """Sets the header over several lines, as narrow as its cells or as its longest part."""
        parts = _pieces(self.header)
        room = max(map(text_width, (*parts, *self.cells)))
        self._headers = wrapped(self.header, room)

    def save(self) -> None:
        """Takes the narrow cells."""
        if self.narrow is not None:
            self.cells, self.narrow = self.narrow, None
            self.fold_header()

    def wrap(self, room: int) -> None:
        """Lets cells go on in the next line; none is wider than `room` then."""
        self.cells = ["\n".join(wrapped(cell, room)) for cell in self.cells]
        self._headers = wrapped(self.header, room)

    def lines(self, row: int) -> list[str]:
        """The lines of a cell; row -1 is the header."""
        return self._headers if row < 0 else self.cells[row].split("\n")


def laid_out(columns: Sequence[Column], width: int) -> list[str]:
    """Lines of a table, the header first, none wider than `width` or `MIN_WIDTH`.

    If there is little room, intervals are left out from the right, then columns that are not needed, and at last names
    go on in the next line.
    """
    width = max(width, MIN_WIDTH)
    kept = list(columns)
    for column in reversed(columns):
        if column.right and _total(kept) > width:
            column.fold_header()
    for needed in (False, True):
        for column in reversed(columns):
            if column.needed == needed and _total(kept) > width:
                column.save()
        for column in reversed(columns):
            if not column.needed and not needed and _total(kept) > width:
                kept.remove(column)
    _wrap_widest(kept, width)
    return _lines(kept)


def _wrap_widest(columns: Sequence[Column], width: int) -> None:
    """The widest column gives way until it is no wider than the next, and so on, until all fit."""
    rooms = [column.width for column in columns]
    while sum(rooms) + len(_GAP) * (len(rooms) - 1) > width and max(rooms) > 1:
        rooms[rooms.index(max(rooms))] -= 1
    for column, room in zip(columns, rooms, strict=True):
        if room < column.width:
            column.wrap(room)


def _lines(columns: Sequence[Column]) -> list[str]:
    widths = [column.width for column in columns]
    found = []
    for row in range(-1, len(columns[0].cells) if columns else -1):
        parts = [column.lines(row) for column in columns]
        height = max(map(len, parts))
        for line in range(height):
            cells = []
            for column, part, room in zip(columns, parts, widths, strict=True):
                at = line - (height - len(part)) if row < 0 else line  # headers stand on their cells
                cells.append(_fitted(part[at] if 0 <= at < len(part) else "", room, column.right))
            found.append(_GAP.join(cells).rstrip())
    return found


def _total(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _fitted(text: str, room: int, right: bool) -> str:
    space = " " * (room - text_width(text))
    return space + text if right else text + space


def wrapped(text: str, room: int) -> list[str]:
    """A text in lines of at most `room`, broken after a bracket, comma, hyphen or space if it can be; nothing is lost.

    >>> wrapped("good(mahalanobis,alpha=0.5)", 17)
    ['good(mahalanobis,', 'alpha=0.5)']
    """
    lines = [""]
    for piece in _pieces(text):
        if text_width(lines[-1] + piece.rstrip()) > room and lines[-1]:
            lines.append("")
        for sign in piece:
            if text_width(lines[-1] + sign) > room and lines[-1] and sign != " ":
                lines.append("")
            lines[-1] += sign
    return [line.rstrip() for line in lines]


def _pieces(text: str) -> list[str]:
    found = [""]
    for at, sign in enumerate(text):
        found[-1] += sign
        if sign in _BREAK_AFTER and at + 1 < len(text):
            found.append("")
    return found


def sentences(text: str, width: int) -> str:
    """A paragraph, wrapped at words to the terminal, and to a line that can be read."""
    room = max(min(width, TEXT_WIDTH), MIN_WIDTH)
    return "\n".join(textwrap.wrap(clean(text), room, break_long_words=True, break_on_hyphens=False))


def text_width(text: str) -> int:
    """Cells of the terminal that a text takes, its widest line if there are several."""
    return max(
        sum(
            0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
            for sign in line
        )
        for line in text.split("\n")
    )


def clean(value: Any) -> str:
    """Text without what would move the cursor, colour the screen or turn the line round."""
    return "".join("?" if unicodedata.category(sign)[0] == "C" else sign for sign in str(value))
