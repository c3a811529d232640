"""Who is best among rows that may be compared, and who cannot be told apart from the best.

`schema.ranks_by` says which metric ranks a row; those with a threshold are ranked among themselves. What is undefined,
and the oracle threshold, which knows the answer, have no rank.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.types import FloatArray, IntArray
from lgl_bench.leaderboard.schema import COMPARABLE, metric, ranks_by
from lgl_bench.leaderboard.stats.holm import holm
from lgl_bench.leaderboard.stats.resampled import shared_part
from lgl_bench.leaderboard.stats.student import welch

ALPHA = 0.05
MARKS = {"best": "", "tie": "~", "behind": "", "untested": "?", "unranked": ""}


def ranked(frame: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """The rows, best first within each group of comparable rows, with three more columns.

    `group` numbers the groups; `rank` is 1 for the best and NA for what has none; `standing` is "best", "tie" (Welch's
    t over seeds, adjusted by Holm, cannot tell it from the best), "behind", "untested" (fewer than three seeds on
    either side) or "unranked".

    Args:
        frame: Leaderboard rows.
        by: The metric that ranks; by default as the module says.
    """
    frame = frame.reset_index(drop=True)
    decided = (frame["threshold"] != "").to_numpy(dtype=bool)
    keys = [frame[name] for name in ("stream", *COMPARABLE)]
    group = frame.assign(_decided=decided).groupby([*keys, "_decided"], sort=True).ngroup().to_numpy()
    names = ranking_metrics(frame) if by is None else np.full(len(frame), by, dtype=object)
    value = ranking_values(frame, names)
    value[frame["threshold"].str.startswith("oracle").to_numpy(dtype=bool)] = np.nan
    order = np.lexsort((np.arange(len(frame)), np.where(np.isnan(value), np.inf, -value), group))
    rank = pd.Series(-value).groupby(group).rank(method="min").astype("Int64")
    standing = np.full(len(frame), "unranked", dtype=object)
    for number in np.unique(group):
        rows = np.flatnonzero((group == number) & ~np.isnan(value))
        if len(rows):
            standing[rows] = _standing(frame, rows, value, names[rows[0]])
    found = frame.assign(group=group, rank=rank, standing=standing)
    return found.iloc[order].reset_index(drop=True)


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


def _standing(frame: pd.DataFrame, rows: IntArray, value: FloatArray, by: str) -> npt.NDArray[np.object_]:
    mean, std, seeds = (
        frame[f"{by}_{suffix}"].to_numpy(dtype=np.float64, na_value=np.nan)[rows]
        for suffix in ("mean", "std", "n_seeds")
    )
    return standings(mean, std, seeds, int(np.argmax(value[rows])), str(frame["split"].iloc[rows[0]]))


def standings(mean: FloatArray, std: FloatArray, seeds: FloatArray, best: int, split: str) -> npt.NDArray[np.object_]:
    """How comparable rows of a split stand to the best of them: Welch's t over seeds, adjusted by Holm."""
    found = welch(mean[best], std[best], seeds[best], mean, std, seeds, shared_part(split))
    adjusted = holm(np.where(np.arange(len(mean)) == best, np.nan, found.p))
    standing = np.where(np.isnan(adjusted), "untested", np.where(adjusted < ALPHA, "behind", "tie")).astype(object)
    standing[mean == mean[best]] = "tie"
    standing[best] = "best"
    return standing
