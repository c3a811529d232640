"""The floor: which rows beat `random`, `degree` and `recency` beyond noise, and the role of a row.

A row without a threshold is set against the best floor row, by the mean of the ranking metric, of the group it may be
compared with, whatever the backbone or head of either. It is above the floor if its metric is higher and the two are
told apart, as `compare/standing.py` decides, adjusted by Holm over the group. A row with a threshold decides on its
detector's novelty and takes its detector's value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.references import FLOOR, ORACLE, REFERENCE_THRESHOLDS
from lgl_bench.core.types import BoolArray
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.leaderboard.compare.board_tests import Source
from lgl_bench.leaderboard.compare.standing import BETTER, UNTESTED, Pairs, best_of_each, groups, pairs_tested
from lgl_bench.leaderboard.compare.testing import Tester
from lgl_bench.leaderboard.pooled import same_detector
from lgl_bench.leaderboard.table.names import PRINTED, Fact
from lgl_bench.leaderboard.values import Texts, ranking_metrics, ranking_values

YES, NO, IS_FLOOR = "yes", "no", "floor"
DECIDED = (YES, NO, IS_FLOOR)


def label(detector: str, threshold: str) -> str:
    """The role of a row: a floor, a reference, an upper bound; "" for a method.

    >>> label("degree", ""), label("msp", "never"), label("msp", "oracle"), label("msp", "")
    ('floor', 'reference', 'upper bound', '')
    """
    if plugin_name(threshold) == ORACLE:
        return "upper bound"
    if plugin_name(threshold) in REFERENCE_THRESHOLDS:
        return "reference"
    return "floor" if plugin_name(detector) in FLOOR else ""


def above_floor(frame: pd.DataFrame, runs: Sequence[Source] = (), tester: Tester | None = None) -> Texts:
    """The column `above_floor`: yes, no, floor, untested, or empty for printed rows.

    What a table says of its rows stays: it may have been made from answers that are not here.

    Args:
        frame: Leaderboard rows, with a column `board` if there are `runs`.
        runs: What the rows of each board are tested from.
        tester: What asks the answers of runs.
    """
    frame = frame.reset_index(drop=True)
    printed = (frame[Fact.TRUST] == PRINTED).to_numpy(dtype=bool)
    plain = (frame["threshold"] == "").to_numpy(dtype=bool) & ~printed
    pairs = against_floor(frame)
    found = np.where(is_floor(frame), IS_FLOOR, np.where(printed, "", UNTESTED)).astype(object)
    tests = pairs_tested(frame, pairs, runs, tester)
    words = tests.verdicts(tests.judge(groups(frame)[pairs.b]))
    found[pairs.b] = np.select([words == BETTER, words == UNTESTED], [YES, UNTESTED], NO)
    board = frame.get("board", [0] * len(frame))
    from_table = np.array([not runs or not isinstance(runs[at], Run) for at in board])
    kept = frame[Fact.ABOVE_FLOOR].to_numpy(dtype=object)
    found = np.where(from_table & np.isin(kept, DECIDED), kept, found)
    return np.where(plain | printed, found, _of_detector(frame, found, plain)).astype(object)


def is_floor(frame: pd.DataFrame) -> BoolArray:
    """Which rows are the floor: rows without a threshold of detectors that know nothing of classes."""
    found: BoolArray = (frame["threshold"] == "").to_numpy(dtype=bool)
    return found & frame["detector"].map(plugin_name).isin(FLOOR).to_numpy(dtype=bool)


def against_floor(frame: pd.DataFrame) -> Pairs:
    """Every row without a threshold that could be ranked, and the best floor row of its group."""
    floor, value = is_floor(frame), ranking_values(frame)
    best = best_of_each(groups(frame), np.where(floor, value, np.nan))
    tested = (frame["threshold"] == "").to_numpy(dtype=bool) & ~floor & ~np.isnan(value) & (best >= 0)
    rows = np.flatnonzero(tested & (frame[Fact.TRUST] != PRINTED).to_numpy(dtype=bool))
    return Pairs(best[rows], rows, ranking_metrics(frame)[rows])


def _of_detector(frame: pd.DataFrame, found: Texts, plain: BoolArray) -> Texts:
    """Of each row, what its detector without a threshold has; that of the same track if there are several."""
    base = same_detector(frame[list(KEY)])
    rows = pd.DataFrame({"base": base, "track": frame["track"], "value": found})
    by_track = rows[plain].drop_duplicates(["base", "track"])
    anywhere = rows[plain].drop_duplicates("base").set_index("base")["value"]
    exact = rows[["base", "track"]].merge(by_track, on=["base", "track"], how="left")["value"].to_numpy(dtype=object)
    other = rows["base"].map(anywhere).to_numpy(dtype=object)
    there = ~pd.isna(other)
    return np.where(pd.isna(exact), np.where(there, other, UNTESTED), exact).astype(object)
