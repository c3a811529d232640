"""What ranks each row of a table, as a column, and why some rows have no rank.

What is undefined, incomplete because fits failed, or decided by the oracle, which sees the truth, has no rank.
`ranking.py` makes ranks of it, `floor.py` finds the floor by it, and `compare/standing.py` says who ties.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray
from lgl_bench.leaderboard.pooled import is_oracle
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.metrics import metrics as registry
from lgl_bench.metrics.ranks import ranks_by

Texts: TypeAlias = npt.NDArray[np.object_]


def ranking_metrics(frame: pd.DataFrame, by: str | None = None) -> Texts:
    """Of each row, the metric that ranks it: `by`, or as `ranks_by` says."""
    if by is not None:
        return np.full(len(frame), by, dtype=object)
    cells = zip(frame["protocol"], frame["threshold"], strict=True)
    return np.array([ranks_by(protocol, threshold) for protocol, threshold in cells], dtype=object)


def detector_metrics(frame: pd.DataFrame) -> Texts:
    """Of each row, the metric that ranks its detector, whatever its threshold."""
    return np.array([ranks_by(protocol, "") for protocol in frame["protocol"]], dtype=object)


def direction(name: str) -> float:
    """1 if more of a metric is better, else -1."""
    return 1.0 if registry.described(name).higher_is_better else -1.0


def oriented_means(frame: pd.DataFrame, names: Texts) -> FloatArray:
    """Of each row, the mean of its metric in `names`, with the sign that makes higher better; NaN if undefined."""
    found = np.full(len(frame), np.nan)
    for name in set(names):
        means = frame[metric_column(name, "mean")].to_numpy(dtype=np.float64)
        found = np.where(names == name, direction(name) * means, found)
    return found


def ranking_values(frame: pd.DataFrame, names: Texts | None = None) -> FloatArray:
    """Of each row, the value of the metric that ranks it, higher is better; NaN for what has no rank.

    Args:
        frame: Leaderboard rows.
        names: Of each row, the metric; by default as `ranks_by` says.
    """
    found = oriented_means(frame, ranking_metrics(frame) if names is None else names)
    found[incomplete(frame) | _knows_the_truth(frame)] = np.nan
    return found


def incomplete(frame: pd.DataFrame) -> BoolArray:
    """Which rows lack test years or folds, because fits failed or diverged."""
    counts = [frame[name].fillna(0).to_numpy(dtype=np.int64) for name in (Fact.FAILED_YEARS, Fact.FAILED_SEEDS)]
    found: BoolArray = (counts[0] > 0) | (counts[1] > 0)
    return found


def unranked_reasons(frame: pd.DataFrame, names: Texts) -> Texts:
    """Of each row, why it has no rank; empty if it has one."""
    found = np.full(len(frame), "", dtype=object)
    for name in set(names):
        empty = (names == name) & frame[metric_column(name, "mean")].isna().to_numpy(dtype=bool)
        found[empty] = frame[metric_column(name, "reason")].to_numpy(dtype=object)[empty]
    found[_knows_the_truth(frame)] = "an upper bound: it is told the truth"
    for row in np.flatnonzero(incomplete(frame)):
        years, seeds = (int(frame[name].iloc[row]) for name in (Fact.FAILED_YEARS, Fact.FAILED_SEEDS))
        found[row] = f"incomplete: {years} test years or folds failed with {seeds} seeds"
    return found


def _knows_the_truth(frame: pd.DataFrame) -> BoolArray:
    found: BoolArray = frame["threshold"].map(is_oracle).to_numpy(dtype=bool)
    return found
