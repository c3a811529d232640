"""Strategies as tables name them: `replay`, with parameters only if they are not the default ones."""

from __future__ import annotations

from functools import cache

import pandas as pd

from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.grammar import Expression


def differ_in_strategy(frame: pd.DataFrame) -> bool:
    """Whether rows differ in their strategy, so that a table must name it; those of tasks apart have none."""
    return "strategy" in frame and frame["strategy"].replace("", None).nunique() > 1


@cache
def shown_strategy(text: str) -> str:
    """A strategy by its name and the parameters that differ from its defaults; one that is not available in full.

    >>> shown_strategy("replay(balance=auto,graph=all,pick=mean,size=200)"), shown_strategy("full")
    ('replay(pick=mean)', 'full')
    """
    if "(" not in text:
        return text
    from lgl_bench.strategies import strategies

    try:
        given = parse(text)
        usual = dict(complete(Expression(given.name), strategies).parameters)
    except LglBenchError:
        return text
    own = tuple(pair for pair in given.parameters if usual.get(pair[0]) != pair[1])
    return str(Expression(given.name, given.arguments, own))
