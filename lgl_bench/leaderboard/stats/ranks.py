"""Across streams: mean ranks, and from six streams on who can be told apart from whom.

Pairs are tested by Wilcoxon's signed ranks over streams, adjusted by Holm, and methods that cannot be told apart are
joined: the bars of a critical-difference diagram (Demsar 2006, with the pairwise tests Benavoli et al. 2016 ask for).
A method has one value per stream, the mean over its seeds: seeds are no evidence about other streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from lgl_bench.core.types import FloatArray
from lgl_bench.leaderboard.stats.holm import holm
from lgl_bench.leaderboard.stats.signflip import MAX_YEARS, sign_flip

MIN_STREAMS = 6
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Ranking:
    """Methods over streams, best first.

    Attributes:
        names: Of the methods.
        mean_ranks: 1 is best; equal values share their mean rank.
        streams: How many.
        friedman_p: Whether the methods differ at all; None if there are too few streams or methods.
        pairs: Holm-adjusted p of Wilcoxon's test, by the positions of two names; empty if there are too few streams.
        bars: Runs of positions, first and last, in which no pair differs.
        reason: Why nothing was tested; "" if it was.
    """

    names: list[str]
    mean_ranks: list[float]
    streams: int
    friedman_p: float | None
    pairs: dict[tuple[int, int], float]
    bars: list[tuple[int, int]]
    reason: str


def rank_over_streams(values: FloatArray, names: Sequence[str]) -> Ranking:
    """Ranks methods over streams.

    Args:
        values: (streams, methods), higher is better, without gaps.
        names: Of the methods.
    """
    ranks = pd.DataFrame(values).rank(axis="columns", ascending=False).to_numpy(dtype=np.float64)
    means = ranks.mean(axis=0) if len(values) else np.zeros(len(names))
    order = np.argsort(means, kind="stable")
    streams = len(values)
    ordered = [names[i] for i in order]
    if streams < MIN_STREAMS or len(names) < 2:
        reason = too_few(streams) if streams < MIN_STREAMS else "only one method"
        return Ranking(ordered, means[order].tolist(), streams, None, {}, [], reason)
    friedman = None
    if len(names) > 2 and np.ptp(ranks, axis=1).any():
        import scipy.stats  # a second to import, and most comparisons have too few streams

        friedman = float(scipy.stats.friedmanchisquare(*values.T).pvalue)
    listed = list(combinations(range(len(names)), 2))
    raw = np.array([signed_ranks(values[:, order[i]] - values[:, order[j]]) for i, j in listed])
    pairs = dict(zip(listed, holm(raw).tolist(), strict=True))
    return Ranking(ordered, means[order].tolist(), streams, friedman, pairs, _bars(len(names), pairs), "")


def signed_ranks(differences: FloatArray) -> float:
    """Two-sided p of Wilcoxon's signed-rank test, exact with ties; differences of 0 are left out.

    >>> signed_ranks(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))  # 2 of 64
    0.03125
    """
    there = differences[differences != 0]
    if len(there) > MAX_YEARS:
        import scipy.stats

        return float(scipy.stats.wilcoxon(there, method="approx").pvalue)
    return sign_flip(np.sign(there) * pd.Series(np.abs(there)).rank().to_numpy()) if len(there) else 1.0


def too_few(streams: int) -> str:
    """The reason if there are too few streams."""
    return f"too few streams: {streams}, and {MIN_STREAMS} are needed"


def _bars(count: int, pairs: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """Longest runs of neighbouring methods in which no pair differs; a method alone is no run."""
    found: list[tuple[int, int]] = []
    for first in range(count):
        last = first
        while last + 1 < count and all(pairs[i, last + 1] >= ALPHA for i in range(first, last + 1)):
            last += 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
