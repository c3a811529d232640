"""What ranks each row of a table, as a column, and why some have no rank."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray
from lgl_bench.leaderboard.failures import FAILED_SEEDS, FAILED_YEARS
from lgl_bench.leaderboard.pooled import is_oracle
from lgl_bench.leaderboard.schema import metric, ranks_by

Texts: TypeAlias = npt.NDArray[np.object_]


def ranking_metrics(frame: pd.DataFrame) -> Texts:
    """Of each row, the metric that ranks it."""
    cells = zip(frame["protocol"], frame["threshold"], strict=True)
    return np.array([ranks_by(protocol, threshold) for protocol, threshold in cells], dtype=object)


def ranking_values(frame: pd.DataFrame, names: Texts | None = None) -> FloatArray:
    """Of each row, the value of the metric that ranks it, higher is better; NaN for what has no rank.

    Args:
        frame: Leaderboard rows.
        names: Of each row, the metric; by default as `ranks_by` says.
    """
    names = ranking_metrics(frame) if names is None else names
    found = np.full(len(frame), np.nan)
    for name in set(names):
        sign = 1.0 if metric(name).higher_is_better else -1.0
        found = np.where(names == name, sign * frame[f"{name}_mean"].to_numpy(dtype=np.float64), found)
    found[incomplete(frame) | _knows_the_truth(frame)] = np.nan
    return found


def incomplete(frame: pd.DataFrame) -> BoolArray:
    """Which rows lack test years or folds, because fits failed or diverged."""
    counts = [frame[name].fillna(0).to_numpy(dtype=np.int64) for name in (FAILED_YEARS, FAILED_SEEDS)]
    found: BoolArray = (counts[0] > 0) | (counts[1] > 0)
    return found


def unranked_reasons(frame: pd.DataFrame, names: Texts) -> Texts:
    """Of each row, why it has no rank; empty where it has one."""
    found = np.full(len(frame), "", dtype=object)
    for name in set(names):
        empty = (names == name) & frame[f"{name}_mean"].isna().to_numpy(dtype=bool)
        found[empty] = frame[f"{name}_reason"].to_numpy(dtype=object)[empty]
    found[_knows_the_truth(frame)] = "an upper bound: it is told the truth"
    for row in np.flatnonzero(incomplete(frame)):
        years, seeds = (int(frame[name].iloc[row]) for name in (FAILED_YEARS, FAILED_SEEDS))
        found[row] = f"incomplete: {years} test years or folds failed with {seeds} seeds"
    return found


def _knows_the_truth(frame: pd.DataFrame) -> BoolArray:
    found: BoolArray = frame["threshold"].map(is_oracle).to_numpy(dtype=bool)
    return found
