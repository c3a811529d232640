"""The floor: which rows beat `random`, `degree` and `recency` beyond noise, and what a row is there for.

A row without a threshold is set against the best floor row, by the mean of the ranking metric, of the group it may be
compared with, whatever the backbone or head of either. It is above the floor if its metric is higher and the two are
told apart, as `standing.py` tells, adjusted by Holm over the group. A row with a threshold decides on its detector's
novelty and takes its detector's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.core.references import FLOOR, ORACLE, REFERENCE_THRESHOLDS
from lgl_bench.core.types import BoolArray
from lgl_bench.leaderboard.answers import Run
from lgl_bench.leaderboard.pooled import same_detector
from lgl_bench.leaderboard.schema import KEY
from lgl_bench.leaderboard.standing import BETTER, UNTESTED, Pairs, best_of_each, groups, pairs_tested
from lgl_bench.leaderboard.testing import Tester
from lgl_bench.leaderboard.values import Texts, ranking_metrics, ranking_values

YES, NO, IS_FLOOR = "yes", "no", "floor"
DECIDED = (YES, NO, IS_FLOOR)


@cache
def outer_name(text: str) -> str:
    """The outermost name of an expression; the text itself where it is none.

    >>> outer_name("good(random,alpha=0.5)"), outer_name("recency()")
    ('good', 'recency')
    """
    try:
        return parse(text).name
    except (UsageError, RecursionError):
        return text


def label(detector: str, threshold: str) -> str:
    """What a row is there for: a floor, a reference, an upper bound; "" for a method.

    >>> label("degree", ""), label("msp", "never"), label("msp", "oracle"), label("msp", "")
    ('floor', 'reference', 'upper bound', '')
    """
    if outer_name(threshold) == ORACLE:
        return "upper bound"
    if outer_name(threshold) in REFERENCE_THRESHOLDS:
        return "reference"
    return "floor" if outer_name(detector) in FLOOR else ""


def above_floor(frame: pd.DataFrame, runs: Sequence[Run | None] = (), tester: Tester | None = None) -> Texts:
    """The column `above_floor`: yes, no, floor, untested, or nothing for printed rows.

    What a table says of its rows stays: it may have been made from answers that are not here.

    Args:
        frame: Leaderboard rows, with a column `board` where there are `runs`.
        runs: The run of each board, whose answers are asked; None for a table.
        tester: What asks them.
    """
    frame = frame.reset_index(drop=True)
    printed = (frame["trust"] == "printed").to_numpy(dtype=bool)
    plain = (frame["threshold"] == "").to_numpy(dtype=bool) & ~printed
    pairs = against_floor(frame)
    found = np.where(is_floor(frame), IS_FLOOR, np.where(printed, "", UNTESTED)).astype(object)
    tests = pairs_tested(frame, pairs, runs, tester)
    words = tests.verdicts(tests.judge(groups(frame)[pairs.b]))
    found[pairs.b] = np.select([words == BETTER, words == UNTESTED], [YES, UNTESTED], NO)
    from_table = np.array([not runs or runs[board] is None for board in frame.get("board", [0] * len(frame))])
    said = frame["above_floor"].to_numpy(dtype=object)
    found = np.where(from_table & np.isin(said, DECIDED), said, found)
    return np.where(plain | printed, found, _of_detector(frame, found, plain)).astype(object)


def is_floor(frame: pd.DataFrame) -> BoolArray:
    """Which rows are the floor: rows without a threshold of detectors that know nothing of classes."""
    found: BoolArray = (frame["threshold"] == "").to_numpy(dtype=bool)
    return found & frame["detector"].map(outer_name).isin(FLOOR).to_numpy(dtype=bool)


def against_floor(frame: pd.DataFrame) -> Pairs:
    """Every row without a threshold that could be ranked, and the best floor row of its group."""
    floor, value = is_floor(frame), ranking_values(frame)
    best = best_of_each(groups(frame), np.where(floor, value, np.nan))
    tested = (frame["threshold"] == "").to_numpy(dtype=bool) & ~floor & ~np.isnan(value) & (best >= 0)
    rows = np.flatnonzero(tested & (frame["trust"] != "printed").to_numpy(dtype=bool))
    return Pairs(best[rows], rows, ranking_metrics(frame)[rows])


def _of_detector(frame: pd.DataFrame, found: Texts, plain: BoolArray) -> Texts:
    """Of each row, what its detector without a threshold has; that of the same track where there are several."""
    base = same_detector(frame[list(KEY)])
    rows = pd.DataFrame({"base": base, "track": frame["track"], "value": found})
    by_track = rows[plain].drop_duplicates(["base", "track"])
    anywhere = rows[plain].drop_duplicates("base").set_index("base")["value"]
    exact = rows[["base", "track"]].merge(by_track, on=["base", "track"], how="left")["value"].to_numpy(dtype=object)
    other = rows["base"].map(anywhere).to_numpy(dtype=object)
    there = ~pd.isna(other)
    return np.where(pd.isna(exact), np.where(there, other, UNTESTED), exact).astype(object)
