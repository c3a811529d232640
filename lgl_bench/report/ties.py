"""Which rows cannot be told apart from the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Interval(Protocol):
    """What a tie is judged by."""

    @property
    def mean(self) -> float | None:
        """Mean over seeds."""

    @property
    def lo(self) -> float | None:
        """Lower end of the interval."""

    @property
    def hi(self) -> float | None:
        """Upper end of the interval."""


def ties(rows: Sequence[Interval]) -> list[str]:
    """Of rows that may be compared, best first: "best", "tie", "behind", or "untested" without an interval.

    A row ties with the best where their intervals overlap.
    """
    found = []
    for at, row in enumerate(rows):
        best = rows[0]
        if at == 0 or row.mean == best.mean:
            found.append("tie" if at else "best")
        elif row.lo is None or row.hi is None or best.lo is None or best.hi is None:
            found.append("untested")
        else:
            found.append("tie" if row.hi >= best.lo and row.lo <= best.hi else "behind")
    return found
