"""Who is best among rows that may be compared, and who cannot be told apart from the best.

`schema.ranks_by` says which metric ranks a row; those with a threshold are ranked among themselves. What is undefined,
incomplete because fits failed, or decided by the oracle, which knows the answer, has no rank and says why.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.leaderboard.failures import FAILED_SEEDS, FAILED_YEARS
from lgl_bench.leaderboard.pooled import is_oracle
from lgl_bench.leaderboard.schema import COMPARABLE, metric, ranks_by
from lgl_bench.leaderboard.stats.holm import holm
from lgl_bench.leaderboard.stats.resampled import shared_part
from lgl_bench.leaderboard.stats.student import welch

ALPHA = 0.05
MARKS = {"best": "", "tie": "~", "behind": "", "untested": "?", "incomplete": "", "unranked": ""}


def ranked(frame: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """The rows, best first within each group of comparable rows, with four more columns.

    `group` numbers the groups; `rank` is 1 for the best and NA for what has none; `standing` is "best", "tie" (Welch's
    t over seeds, adjusted by Holm, cannot tell it from the best), "behind", "untested" (fewer than three seeds on
    either side), "incomplete" (fits failed) or "unranked"; `unranked_reason` says why there is no rank.

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
    why = unranked_reasons(frame, names)
    order = np.lexsort((np.arange(len(frame)), np.where(np.isnan(value), np.inf, -value), group))
    rank = pd.Series(-value).groupby(group).rank(method="min").astype("Int64")
    standing = np.full(len(frame), "unranked", dtype=object)
    for number in np.unique(group):
        rows = np.flatnonzero((group == number) & ~np.isnan(value))
        if len(rows):
            standing[rows] = _standing(frame, rows, value, names[rows[0]])
    standing[incomplete(frame)] = "incomplete"
    found = frame.assign(group=group, rank=rank, standing=standing, unranked_reason=why)
    return found.iloc[order].reset_index(drop=True)


def ranking_metrics(frame: pd.DataFrame) -> npt.NDArray[np.object_]:
    """Of each row, the metric that ranks it."""
    cells = zip(frame["protocol"], frame["threshold"], strict=True)
    return np.array([ranks_by(protocol, threshold) for protocol, threshold in cells], dtype=object)


def ranking_values(frame: pd.DataFrame, names: npt.NDArray[np.object_] | None = None) -> FloatArray:
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


def unranked_reasons(frame: pd.DataFrame, names: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
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
