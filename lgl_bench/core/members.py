"""How many fits an expression takes together: what planning and storing have to know of ensembles."""

from __future__ import annotations

from functools import lru_cache

from lgl_bench.core.grammar import Expression, parse

ENSEMBLE = "ensemble"
"""The detector that takes several fits together."""
MAX_MEMBERS = 100
"""Every one of them is a fit."""


@lru_cache(maxsize=4096)
def members_of(text: str) -> int:
    """Members of the ensemble in a canonical expression; 1 if there is none in it, or nobody says how many.

    >>> members_of("good(ensemble(msp,members=3),alpha=0.5)"), members_of("msp")
    (3, 1)
    """
    return _members(parse(text))


def _members(expression: Expression) -> int:
    if expression.name == ENSEMBLE:
        given = dict(expression.parameters).get("members")
        return given if isinstance(given, int) and given > 1 else 1
    return max(map(_members, expression.arguments), default=1)
