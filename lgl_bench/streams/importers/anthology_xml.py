"""The XML files of the ACL Anthology, read as if a stranger had written them: papers with authors, venues and text.

A document type is refused, and with it every entity but the five of XML itself; so are elements nested deeper than any
collection needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from lgl_bench.core.errors import DataError, quoted
from lgl_bench.core.validation import is_word
from lgl_bench.streams.importers.words import normal_name

_LARGEST = 64 * 2**20  # a longer file is no collection
_DEEPEST = 32
_YEAR = re.compile("[0-9]{4}")
_SKIPPED = ("tex-math", "url")
_AGAIN = "get the file again"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, or the front or back matter of a volume.

    Attributes:
        id: Collection, volume and paper, as in "2018.iwslt-1.7".
        year: The volume's; None if it has none.
        venues: The volume's, in the order of the file.
        authors: Each author's `id`, or the normalised name of one who has none.
        text: Title and abstract.
        matter: Whether it is front or back matter.
    """

    id: str
    year: int | None
    venues: tuple[str, ...]
    authors: frozenset[str]
    text: str
    matter: bool = False


def read_collection(path: Path) -> Iterator[Paper]:
    """The papers of a file, volume by volume.

    Raises:
        DataError: It cannot be read or is no collection of papers.
    """
    root = _parse(path)
    if root.tag != "collection":
        raise DataError(f"{path} is no collection of the ACL Anthology: it has a <{root.tag}>; {_AGAIN}")
    for volume in root.iterfind("volume"):
        place = f"{_id(root, path)}-{_id(volume, path)}"
        meta = volume.find("meta")
        year = "" if meta is None else (meta.findtext("year") or "").strip()
        venues = () if meta is None else tuple((venue.text or "").strip() for venue in meta.iterfind("venue"))
        strange = [venue for venue in venues if not is_word(venue)]
        if strange:
            raise DataError(f"{path}, volume {place}: {quoted(strange[0])} is no name of a venue; {_AGAIN}")
        born = int(year) if _YEAR.fullmatch(year) else None
        for _ in volume.iterfind("frontmatter"):
            yield Paper(f"{place}.0", born, venues, frozenset(), "", matter=True)
        for paper in volume.iterfind("paper"):
            yield Paper(
                f"{place}.{_id(paper, path)}",
                born,
                venues,
                frozenset(filter(None, map(_author, paper.iterfind("author")))),
                " ".join(_plain_text(part) for tag in ("title", "abstract") for part in paper.iterfind(tag)),
                matter=paper.get("type") in ("frontmatter", "backmatter"),
            )


def _parse(path: Path) -> Element:
    """The tree of a file. Nothing is expanded, and nothing is read but the file."""
    builder, parser = TreeBuilder(), expat.ParserCreate()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise DataError(f"{path} has elements inside each other {depth} deep; {_AGAIN}")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: Any) -> None:
        raise DataError(
            f"{path} declares a document type, which no file of the ACL Anthology does and which could expand without "
            f"end; it is refused. {_AGAIN.capitalize()}"
        )

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise DataError(f"{path} has more than {_LARGEST:,} bytes; {_AGAIN}")
        parser.Parse(content, True)
        return builder.close()
    except (OSError, expat.ExpatError, UnicodeError, LookupError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}; is it cut short? {_AGAIN.capitalize()}") from error


def _id(element: Element, path: Path) -> str:
    found = element.get("id", "")
    if not is_word(found):
        raise DataError(f"{path}: a {element.tag} has the id {quoted(found)}, which is none; {_AGAIN}")
    return found


def _author(author: Element) -> str:
    return author.get("id") or normal_name(f"{author.findtext('first') or ''} {author.findtext('last') or ''}")


def _plain_text(element: Element) -> str:
    """Text without markup: formulas and addresses are left out, paragraphs are apart, all else is part of its word."""
    parts = [element.text or ""]
    for child in element:
        if child.tag in _SKIPPED:
            parts.append(" ")
        elif child.tag == "par":
            parts.append(f" {_plain_text(child)} ")
        else:
            parts.append(_plain_text(child))
        parts.append(child.tail or "")
    return "".join(parts)
