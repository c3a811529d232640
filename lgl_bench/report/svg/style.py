"""How drawings look outside of a page: the rules of the style sheet, in light colours.

The style sheet of the site is the only place that says how a drawing looks. Its part on drawings is read here, as far
as drawings need it: selectors of names and classes, one within another, and `light-dark` colours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lgl_bench.report.svg.elements import tag

_SHEET = Path(__file__).parent.parent / "assets" / "site.css"
_BEGIN, _END = "/* drawings:", "/* end of drawings */"
_KEPT = re.compile(r"fill|stroke|color|opacity|text-anchor|font-(size|weight)|stroke-.*|fill-opacity")
INHERITED = ("color", "font-size", "text-anchor")


class Node(NamedTuple):
    """An element as selectors see it."""

    name: str
    classes: frozenset[str]


class Rule(NamedTuple):
    """Selector parts, the outermost first, and what they set."""

    parts: tuple[Node, ...]
    values: dict[str, str]

    def fits(self, path: Sequence[Node]) -> bool:
        """Whether it applies to the last of these elements, each of which holds the next."""
        *outer, own = self.parts
        if not _matches(own, path[-1]):
            return False
        at = 0
        for node in path[:-1]:
            if at < len(outer) and _matches(outer[at], node):
                at += 1
        return at == len(outer)

    @property
    def weight(self) -> tuple[int, int]:
        """Its specificity: classes, then names."""
        return sum(len(part.classes) for part in self.parts), sum(bool(part.name) for part in self.parts)


def _matches(part: Node, node: Node) -> bool:
    return part.name in ("", node.name) and part.classes <= node.classes


@cache
def light_colours() -> dict[str, str]:
    """The colours by name, those of the light scheme."""
    return dict(re.findall(r"--([\w-]+): light-dark\((#\w+),", _SHEET.read_text(encoding="utf-8")))


@cache
def rules() -> tuple[Rule, ...]:
    """What the style sheet says of drawings, the more specific last."""
    sheet = _SHEET.read_text(encoding="utf-8")
    block = re.sub(r"/\*.*?\*/", "", sheet[sheet.index(_BEGIN) : sheet.index(_END)], flags=re.S)
    found = []
    for selectors, body in re.findall(r"([^{}]+)\{([^}]*)\}", block):
        values = {}
        for name, value in re.findall(r"([\w-]+):\s*([^;]+);", body):
            if _KEPT.fullmatch(name):
                values[name] = re.sub(r"var\(--([\w-]+)\)", lambda one: light_colours()[one.group(1)], value.strip())
        found += [Rule(_parsed(selector), values) for selector in selectors.split(",") if values]
    return tuple(sorted(found, key=lambda rule: rule.weight))


def _parsed(selector: str) -> tuple[Node, ...]:
    parts = []
    for word in selector.split():
        name, *classes = word.split(".")
        parts.append(Node(name, frozenset(classes)))
    return tuple(parts)


def style_of(path: Sequence[Node]) -> dict[str, str]:
    """What applies to the last of some elements by itself; what it inherits is not here."""
    found: dict[str, str] = {}
    for rule in rules():
        if rule.fits(path):
            found |= rule.values
    return found


def standalone(svg: str) -> str:
    """A drawing of a page as a file of its own: with its size, its rules, and white behind it."""
    width, height = size_of(svg)
    lines = [f"{_text(rule)} {{ {' '.join(f'{k}: {v};' for k, v in rule.values.items())} }}" for rule in rules()]
    lines.append("text { font-family: DejaVu Sans, Arial, sans-serif; }")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"'
    opened, rest = svg.split(">", 1)
    given = re.sub(r' width="[^"]*"', "", opened.removeprefix("<svg"))
    ground = tag("rect", width="100%", height="100%", fill="#ffffff")
    return f"{head}{given}>{tag('style', chr(10).join(lines))}{ground}{rest}\n"


def _text(rule: Rule) -> str:
    return " ".join(".".join([part.name, *sorted(part.classes)]) for part in rule.parts)


def size_of(svg: str) -> tuple[float, float]:
    """Width and height of a drawing."""
    found = re.search(r'viewBox="0 0 (\S+) (\S+)"', svg)
    assert found is not None
    return float(found.group(1)), float(found.group(2))
