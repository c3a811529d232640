"""Every setting of a detector that a run or a search may choose among."""

from __future__ import annotations

import math
from itertools import product

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression
from lgl_bench.detectors import detectors

MAX_VARIANTS = 1_000
"""Every one of them is scored on every fit."""


def variants(expression: Expression) -> list[Expression]:
    """The settings of an expression and of what it wraps, from the grids that detectors declare.

    Values set in the expression stay as they are.

    >>> [str(one) for one in variants(Expression("odin", (), (("eps", 0.1),)))]
    ['odin(eps=0.1,temperature=1.0)', 'odin(eps=0.1,temperature=10.0)', 'odin(eps=0.1,temperature=1000.0)']
    """
    given = dict(expression.parameters)
    free = {name: values for name, values in detectors.get(expression.name).grid.items() if name not in given}
    wrapped = [variants(argument) for argument in expression.arguments]
    count = math.prod(map(len, (*wrapped, *free.values())))
    if count > MAX_VARIANTS:
        raise UsageError(
            f"'{expression}' stands for {count:,} settings to choose among; at most {MAX_VARIANTS:,} are tried: "
            "give values for some of its parameters"
        )
    return [
        Expression(expression.name, arguments, tuple(sorted({**given, **dict(zip(free, values, strict=True))}.items())))
        for arguments in product(*wrapped)
        for values in product(*free.values())
    ]
