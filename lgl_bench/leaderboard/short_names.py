"""Methods by the short names that the page has too: `good(energy)`, values only if two rows need them to differ.

The names of a detector, threshold or backbone are those of its plugins (`core.grammar.without_values`), a strategy has
the values that are not its defaults (`strategy_names.py`). Within rows that may be compared no two names are equal: if
two are, the values in which the rows differ are added, and what else they differ in is said beside the name.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from lgl_bench.core.errors import UsageError
from lgl_bench.core.grammar import Expression, parse, without_values
from lgl_bench.leaderboard.strategy_names import shown_strategy
from lgl_bench.leaderboard.table.names import Fact
from lgl_bench.leaderboard.table.schema import VARIANT

NAMES = ("detector", "threshold", "backbone", "strategy")
"""Columns that name a method, in the order in which values are added to them."""
BESIDE = "beside"
"""The column that says what else distinguishes a row from another of the same name."""
_OTHERS = (*(name for name in VARIANT if name not in NAMES), Fact.TRUST, Fact.SUBMITTER, "board")


def short_names(frame: pd.DataFrame, *, full: bool = False) -> pd.DataFrame:
    """The columns `NAMES` of leaderboard rows as people read them, and `BESIDE`.

    Args:
        frame: Rows with a column `group`; names are distinct within a group.
        full: Expressions as they are.
    """
    shown = pd.DataFrame({name: frame[name].astype(str) for name in NAMES}, index=frame.index)
    whole = shown.copy()
    if not full:
        for name in NAMES:
            shown[name] = shown[name].map(shown_strategy if name == "strategy" else without_values)
    shown[BESIDE] = ""
    for at in _alike(frame, shown):
        for name in NAMES:
            if not full and whole.loc[at, name].nunique() > 1:
                shown.loc[at, name] = distinct(whole.loc[at, name].tolist())
    for at in _alike(frame, shown):
        differing = [name for name in _OTHERS if name in frame and frame.loc[at, name].astype(str).nunique() > 1]
        cells = frame.loc[at, differing].astype(str).to_dict("records")
        shown.loc[at, BESIDE] = [", ".join(f"{name} {cell or 'none'}" for name, cell in row.items()) for row in cells]
    return shown


def distinct(texts: Sequence[str]) -> list[str]:
    """Expressions with nothing but the values in which those of the same plugins differ.

    >>> distinct(["good(msp,alpha=0.2)", "good(msp,alpha=0.5)", "odin(eps=0.1)"])
    ['good(msp,alpha=0.2)', 'good(msp,alpha=0.5)', 'odin']
    """
    parsed = [_parsed(text) for text in texts]
    found = []
    for text, one in zip(texts, parsed, strict=True):
        rivals = [other for other in parsed if other is not None and without_values(text) == without_values(str(other))]
        found.append(text if one is None else str(_differing(one, rivals)))
    unclear = {name for name, text in zip(found, texts, strict=True) if _texts_of(name, found, texts) > 1}
    return [text if name in unclear else name for name, text in zip(found, texts, strict=True)]


def _texts_of(name: str, found: Sequence[str], texts: Sequence[str]) -> int:
    return len({text for other, text in zip(found, texts, strict=True) if other == name})


def _parsed(text: str) -> Expression | None:
    try:
        return parse(text)
    except UsageError:
        return None


def _differing(one: Expression, rivals: Sequence[Expression]) -> Expression:
    """An expression without the values that all rivals, which have the same plugins, share."""
    own = [pair for pair in one.parameters if any(pair not in rival.parameters for rival in rivals)]
    parts = [
        _differing(part, [rival.arguments[at] for rival in rivals if len(rival.arguments) > at])
        for at, part in enumerate(one.arguments)
    ]
    return Expression(one.name, tuple(parts), tuple(own))


def _alike(frame: pd.DataFrame, shown: pd.DataFrame) -> list[list[int]]:
    """Rows of a group that have the same name, as lists of at least two labels of the index."""
    keys = [frame["group"], *(shown[name] for name in NAMES)]
    parts = shown.groupby(keys, sort=False).groups.values()
    return [list(part) for part in parts if len(part) > 1]
