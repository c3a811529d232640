"""Writes the tables of docs/methods.md from what is registered: `python docs/make_methods.py`.

What stands around the tables is written by hand. Formula and reference are those of the first line of a method's file,
`Name (Authors year): formula.`; if one file holds several methods and has no reference, the formula is the first line
of the class.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lgl_bench.backbones import backbones
from lgl_bench.core.expressions import signature
from lgl_bench.core.references import FLOOR
from lgl_bench.core.registry import Registry
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.thresholds import thresholds

PAGE = Path(__file__).with_name("methods.md")
_REFERENCE = re.compile(r"(\S+) \((?:[^():]+: )?([^()]*\b\d{4})\)")
_PARENTHESES = re.compile(r"\([^()]*\)")


def page() -> str:
    """The page with its tables made anew."""
    text = PAGE.read_text(encoding="utf-8")
    for registry, columns in _TABLES:
        start, end = (f"<!-- {word} of {registry.kind}s -->" for word in ("table", "end"))
        before, rest = text.split(start)
        text = before + "\n".join([start, "", *_table(registry, columns), "", end]) + rest.split(end)[1]
    return text


def _table(registry: Registry[Any], columns: dict[str, Callable[[Registry[Any], str], str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join('---' for _ in columns)} |"
    for name in registry.names():
        if registry.is_built_in(name):
            cells = (column(registry, name).replace("|", "\\|") for column in columns.values())
            yield f"| {' | '.join(cells)} |"


def formula(registry: Registry[Any], name: str) -> str:
    """What stands after the colon in the first line of the file, or the first line of the class."""
    line, plugin = _first_line(registry, name), registry.get(name)
    several = sum(registry.get(other).__module__ == plugin.__module__ for other in registry.names()) > 1
    # A colon inside parentheses is no end of the name.
    colon = _PARENTHESES.sub(lambda found: "." * len(found[0]), line).find(": ")
    if colon < 0 or (several and not _REFERENCE.search(line)):
        return (inspect.getdoc(plugin) or "").split("\n")[0].rstrip(".")
    return line[colon + 2 :].rstrip(".")


def reference(registry: Registry[Any], name: str) -> str:
    """Who described it; of several in a line the one behind its own name."""
    found = _REFERENCE.findall(_first_line(registry, name))
    own = [text for title, text in found if title.lower() == name]
    return "; ".join(own or [text for _, text in found])


def _first_line(registry: Registry[Any], name: str) -> str:
    return (inspect.getdoc(sys.modules[registry.get(name).__module__]) or "").split("\n")[0]


def _name(registry: Registry[Any], name: str) -> str:
    wrapped, _ = signature(registry.get(name)) if registry is detectors else ((), {})
    return f"`{name}(D)`" if wrapped else f"`{name}`"


def _kind(registry: Registry[Any], name: str) -> str:
    """How a detector comes to its model."""
    plugin = registry.get(name)
    if name in FLOOR:
        return "floor"
    if signature(plugin)[0]:
        return "wraps D"
    return "training" if _trained_with(plugin) else "post-hoc"


def _trained_with(plugin: Any) -> list[str]:
    """The head and the backbone that a detector has to itself."""
    return [
        *(f"head {head}" for head in plugin.heads[:1] if head != "softmax"),
        *(f"backbone {b}" for b in plugin.backbones),
    ]


def _trained(registry: Registry[Any], name: str) -> str:
    return ", ".join(_trained_with(registry.get(name)))


def _track(registry: Registry[Any], name: str) -> str:
    plugin = registry.get(name)
    parts = [plugin]
    if registry is detectors:
        parts += [heads.get(head) for head in plugin.heads[:1]] + [backbones.get(one) for one in plugin.backbones]
    return "transductive" if any(part.track == "transductive" for part in parts) else "inductive"


def _cost(registry: Registry[Any], name: str) -> str:
    plugin = registry.get(name)
    if signature(plugin)[0]:
        return "as D" if plugin.cost == "one pass" else f"as D, {plugin.cost}"
    return f"training, {plugin.cost}" if _trained_with(plugin) else str(plugin.cost)


def _parameters(registry: Registry[Any], name: str) -> str:
    given = inspect.signature(registry.get(name)).parameters.values()
    return ", ".join(f"`{one.name}={_shown(one.default)}`" for one in given if one.default is not one.empty)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


_COMMON: dict[str, Callable[[Registry[Any], str], str]] = {"name": _name, "formula": formula, "reference": reference}
_TABLES: tuple[tuple[Registry[Any], dict[str, Callable[[Registry[Any], str], str]]], ...] = (
    (
        detectors,
        {
            **{"name": _name, "kind": _kind, "formula": formula, "reference": reference, "trained with": _trained},
            **{"track": _track, "parameters": _parameters, "cost": _cost},
        },
    ),
    (backbones, {**_COMMON, "track": _track, "parameters": _parameters}),
    (heads, {**_COMMON, "track": _track, "parameters": _parameters}),
    (thresholds, {**_COMMON, "parameters": _parameters}),
)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
