"""What ranks each row of a table, as a column."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray
from lgl_bench.leaderboard.schema import metric, ranks_by


def ranking_metrics(frame: pd.DataFrame) -> npt.NDArray[np.object_]:
    """Of each row, the metric that ranks it."""
    cells = zip(frame["protocol"], frame["threshold"], strict=True)
    return np.array([ranks_by(protocol, threshold) for protocol, threshold in cells], dtype=object)


def ranking_values(frame: pd.DataFrame, names: npt.NDArray[np.object_] | None = None) -> FloatArray:
    """Of each row, the value of the metric that ranks it, higher is better."""
    names = ranking_metrics(frame) if names is None else names
    found = np.full(len(frame), np.nan)
    for name in set(names):
        sign = 1.0 if metric(name).higher_is_better else -1.0
        found = np.where(names == name, sign * frame[f"{name}_mean"].to_numpy(dtype=np.float64), found)
    return found


def complete(frame: pd.DataFrame) -> BoolArray:
    """Of each row, whether every fit of its test years or folds ended well; a table that does not say is believed."""
    failed = frame[["failed_years", "failed_seeds"]].to_numpy(dtype=np.float64, na_value=np.nan)
    found: BoolArray = ~(np.nan_to_num(failed) > 0).any(axis=1)
    return found
