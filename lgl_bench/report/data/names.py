"""Names as people read them, and as files and spreadsheets can bear them."""

from __future__ import annotations

import hashlib
import re
from functools import cache

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, parse

_LONGEST_SLUG = 48
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@cache
def expression(text: str) -> Expression | None:
    """A name as an expression; None if it is not one, as any text may stand in a table."""
    try:
        return parse(text)
    except (UsageError, RecursionError):
        return None


@cache
def values(text: str) -> str:
    """The values of an expression, outermost first, without the names of plugins; "" if there are none.

    >>> values("good(odin(eps=0.05,temperature=1000.0),alpha=0.6)")
    'alpha=0.6, eps=0.05, temperature=1000'
    """
    found = expression(text)
    return "" if found is None else ", ".join(_values(found))


def _values(found: Expression) -> list[str]:
    own = [f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in found.parameters]
    return own + [value for part in found.arguments for value in _values(part)]


def plugins(text: str) -> list[str]:
    """Names of every plugin in an expression, outermost first; none if it is no expression.

    >>> plugins("good(react(energy),alpha=0.5)")
    ['good', 'react', 'energy']
    """
    found = expression(text)
    return [] if found is None else _walk(found)


def _walk(found: Expression) -> list[str]:
    return [found.name, *(name for part in found.arguments for name in _walk(part))]


def slug(*texts: str) -> str:
    """A short file name that no two different texts share.

    >>> slug("gcn", "good(odin)")
    'gcn-good-odin-a41dee3e'
    """
    whole = "\x00".join(texts)
    words = re.sub(r"[^a-z0-9]+", "-", " ".join(texts).lower()).strip("-")[:_LONGEST_SLUG].rstrip("-")
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{words}-{digest}" if words else digest


def spreadsheet(cell: object) -> object:
    """A cell that no spreadsheet runs: text that begins like a formula gets an apostrophe; numbers stay.

    >>> spreadsheet("=cmd()"), spreadsheet("-1"), spreadsheet(-1.5), spreadsheet(None)
    ("'=cmd()", "'-1", -1.5, '')
    """
    if cell is None:
        return ""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
