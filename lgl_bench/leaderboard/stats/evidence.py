"""What the error of a difference is made of, and how many more seeds would make it small enough.

With S seeds the variance of a mean difference is

    V + s^2 (1 / S + r)

V is the part that all seeds share, the vertices of a bootstrap; s^2 the variance of single seeds' differences; r is
n_test / n_train if every seed splits one graph anew (`resampled.py`) and 0 otherwise. Only s^2 / S shrinks with more
seeds. The degrees of freedom are 1 / df = w / (S - 1) + (1 - w) / n, with w the share of s^2 (1 / S + r) in the
variance and n the degrees of freedom of V (`bootstrap.py` says why w is not squared).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from lgl_bench.core.types import BoolArray, FloatArray
from lgl_bench.leaderboard.stats.holm import holm
from lgl_bench.leaderboard.stats.student import MIN_SEEDS, Difference, from_error, welch

ALPHA = 0.05
"""Level of every verdict, after Holm's adjustment."""
MAX_SEEDS = 100
"""The most seeds anybody can be asked to run; a difference that needs more is not worth finding."""


class Evidence(NamedTuple):
    """Differences of paired seeds; every field is an array if there are many.

    Attributes:
        value: Mean over seeds.
        spread: Variance over seeds of one seed's difference; NaN with a single seed, unless it is 0.
        seeds: How many.
        shared: n_test / n_train if seeds split anew, else 0.
        fixed: Variance that all seeds share.
        df: Degrees of freedom of `fixed`.
    """

    value: Any
    spread: Any
    seeds: Any
    shared: Any = 0.0
    fixed: Any = 0.0
    df: Any = 1.0

    def difference(self, least: int = 0, tests: Any = 1.0) -> Difference:
        """With interval and p, if there were at least so many seeds; NaN below three, unless nothing differs at all.

        The interval is that of `tests` tests which share the level.
        """
        seeds = np.maximum(np.asarray(self.seeds, dtype=np.float64), least)
        fixed = np.asarray(self.fixed, dtype=np.float64)
        of_seeds = self.spread * (1 / np.maximum(seeds, 1) + self.shared)
        total = of_seeds + fixed
        share = np.divide(of_seeds, total, out=np.zeros_like(total), where=total > 0)
        df = 1 / (share / np.maximum(seeds - 1, 1) + (1 - share) / np.maximum(self.df, 1.0))
        same = (np.asarray(self.value) == 0) & (total == 0)
        enough = (seeds >= MIN_SEEDS) & (np.asarray(self.seeds) >= MIN_SEEDS) | same
        return from_error(self.value, np.where(enough, np.sqrt(total), np.nan), df, tests)


def of_seeds(differences: FloatArray, shared: float = 0.0, fixed: float = 0.0, df: float = 1.0) -> Evidence:
    """The evidence of paired differences, one per seed."""
    count = len(differences)
    spread = float(np.var(differences, ddof=1)) if count > 1 else 0.0 if count and not differences.any() else np.nan
    return Evidence(float(np.mean(differences)) if count else np.nan, spread, count, shared, fixed, df)


class Unpaired(NamedTuple):
    """Differences b - a of rows of which only mean, deviation and number of seeds are known; arrays of one length."""

    mean_a: FloatArray
    std_a: FloatArray
    seeds_a: FloatArray
    mean_b: FloatArray
    std_b: FloatArray
    seeds_b: FloatArray
    shared: FloatArray

    @property
    def value(self) -> FloatArray:
        """The differences."""
        return self.mean_b - self.mean_a

    @property
    def seeds(self) -> FloatArray:
        """Of the side that has fewer."""
        return np.fmin(self.seeds_a, self.seeds_b)

    def difference(self, least: int = 0, tests: Any = 1.0) -> Difference:
        """By Welch's t, if either side had at least so many seeds; NaN if a side has fewer than three."""
        enough = self.seeds >= MIN_SEEDS
        a, b = (np.where(enough, np.maximum(seeds, least), 0.0) for seeds in (self.seeds_a, self.seeds_b))
        return welch(self.mean_a, self.std_a, a, self.mean_b, self.std_b, b, self.shared, tests)


def more_seeds(p_at: Callable[[int], FloatArray], seeds: FloatArray) -> FloatArray:
    """Of each test of a family, how many more seeds would tell its two sides apart if everything else stayed.

    Holm's adjustment is made anew for every number of seeds, as every test of the family would have as many. NaN if
    `MAX_SEEDS` in all do not suffice, or if nothing is tested.

    Args:
        p_at: The p values of the family, if every test had at least so many seeds; never larger with more of them.
        seeds: That each test has now.
    """

    @cache
    def significant(least: int) -> BoolArray:
        # Holm leaves NaN as it is, and NaN is not below.
        found: BoolArray = holm(p_at(least)) < ALPHA
        return found

    found = np.full(len(seeds), np.nan)
    for row in np.flatnonzero(significant(MAX_SEEDS)):
        low, high = int(seeds[row]), MAX_SEEDS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if significant(middle)[row] else (middle, high)
        found[row] = high - seeds[row] if high > seeds[row] else np.nan
    return found
