"""Who is best among rows that may be compared, and how the others stand to the best.

The only place that ranks rows: `leaderboard show`, `compare --within` and the report ask it. Which metric ranks a row,
and which rows have no rank, is in `values.py`; who ties is in `compare/standing.py`. Rows with a threshold are ranked
among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.compare.board_tests import Source
from lgl_bench.leaderboard.compare.standing import (
    BEHIND,
    BEST,
    BETTER,
    INCOMPLETE,
    TIE,
    UNRANKED,
    WORSE,
    Pairs,
    best_of_each,
    groups,
    pairs_tested,
)
from lgl_bench.leaderboard.compare.testing import Tester
from lgl_bench.leaderboard.values import incomplete, ranking_metrics, ranking_values, unranked_reasons

ADDED = ("rank", "standing", "unranked_reason")
"""Columns that a ranking adds, beside `group`."""


def ranked(
    frame: pd.DataFrame, by: str | None = None, runs: Sequence[Source] = (), tester: Tester | None = None
) -> pd.DataFrame:
    """The rows, best first within each group of comparable rows, with four more columns.

    `group` numbers the groups; `rank` is 1 for the best and NA for what has none; `standing` is "best", or how the row
    stands to the best ("behind", "tie", "inconclusive (n more seeds)", "untested"), or "incomplete" (fits failed) or
    "unranked"; `unranked_reason` says why there is no rank.

    Args:
        frame: Leaderboard rows, with a column `board` if there are `runs`.
        by: The metric that ranks; by default as the module says.
        runs: What the rows of each board are tested from.
        tester: What asks the answers of runs.
    """
    frame = frame.reset_index(drop=True)
    group = groups(frame)
    names = ranking_metrics(frame, by)
    value = ranking_values(frame, names)
    reasons = unranked_reasons(frame, names)
    order = np.lexsort((np.arange(len(frame)), np.where(np.isnan(value), np.inf, -value), group))
    rank = pd.Series(-value).groupby(group).rank(method="min").astype("Int64")
    pairs = against_best(frame, by)
    tests = pairs_tested(frame, pairs, runs, tester)
    words = tests.verdicts(tests.judge(group[pairs.b]))
    standing = np.full(len(frame), UNRANKED, dtype=object)
    standing[~np.isnan(value)] = BEST
    # Better than the best can only be a row with other seeds, on those that both have.
    standing[pairs.b] = np.select([words == WORSE, words == BETTER], [BEHIND, TIE], words)
    standing[incomplete(frame)] = INCOMPLETE
    found = frame.assign(group=group, rank=rank, standing=standing, unranked_reason=reasons)
    return found.iloc[order].reset_index(drop=True)


def against_best(frame: pd.DataFrame, by: str | None = None) -> Pairs:
    """Every row that has a rank but the best, and the best of its group, the first of equals."""
    names = ranking_metrics(frame, by)
    value = ranking_values(frame, names)
    best = best_of_each(groups(frame), value)
    rows = np.flatnonzero(~np.isnan(value) & (best != np.arange(len(frame))))
    return Pairs(best[rows], rows, names[rows])
