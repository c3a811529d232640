"""Which rows cannot be told apart from the best: as `leaderboard show` tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from lgl_bench.core.types import FloatArray
from lgl_bench.leaderboard.ranking import standings


class Spread(Protocol):
    """What a tie is judged by."""

    @property
    def mean(self) -> float | None:
        """Mean over seeds."""

    @property
    def std(self) -> float | None:
        """Deviation over seeds."""

    @property
    def seeds(self) -> int | None:
        """How many."""


def ties(rows: Sequence[Spread], split: str) -> list[str]:
    """Of rows that may be compared, best first: "best", "tie", "behind", or "untested" with fewer than three seeds."""
    if not rows:
        return []
    mean, std, seeds = (_numbers([getattr(row, name) for row in rows]) for name in ("mean", "std", "seeds"))
    return [str(standing) for standing in standings(mean, std, seeds, 0, split)]


def _numbers(values: list[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
