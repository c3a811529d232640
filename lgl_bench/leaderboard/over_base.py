"""What a wrapper adds: the rows of GOOD, each beside the row of the detector it wraps, everything else being equal.

The difference is in the metric that ranks the rows. Between rows of run folders it is tested like any other pair
(`compare/testing.py`), adjusted by Holm over the pairs of the group; rows of tables have a difference of means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.compare.board_tests import Source
from lgl_bench.leaderboard.compare.standing import Pairs, groups, pairs_tested
from lgl_bench.leaderboard.compare.testing import Tester
from lgl_bench.leaderboard.table.names import PRINTED, Fact
from lgl_bench.leaderboard.values import ranking_metrics, ranking_values

WRAPPER = "good"
_SAME = tuple(name for name in KEY if name not in ("detector", "preset", "select"))


class OverBase(NamedTuple):
    """A row less that of its base: in the metric that ranks them, with the interval if they were paired.

    Attributes:
        verdict: As `compare` says: better, worse, tie, inconclusive (n more seeds), untested.
        paired: Whether seeds were paired; otherwise it is a difference of means, and has no interval.
    """

    base: str
    value: float
    lo: float | None
    hi: float | None
    verdict: str
    paired: bool


def base_of(detector: str) -> str:
    """The detector that GOOD wraps; "" for any other.

    >>> base_of("good(odin(eps=0.05),alpha=0.6)"), base_of("good(auto)"), base_of("msp")
    ('odin(eps=0.05)', 'auto', '')
    """
    try:
        found = parse(detector)
    except (UsageError, RecursionError):
        return ""
    return str(found.arguments[0]) if found.name == WRAPPER and len(found.arguments) == 1 else ""


def against_base(frame: pd.DataFrame) -> Pairs:
    """Every row of GOOD without a threshold, and the row of its base: the first of them, if presets differ."""
    value = ranking_values(frame)
    plain = (frame["threshold"] == "").to_numpy(dtype=bool) & ~np.isnan(value)
    rows = np.flatnonzero(plain & (frame[Fact.TRUST] != PRINTED).to_numpy(dtype=bool))
    same = [tuple(cells) for cells in frame[list(_SAME)].itertuples(index=False, name=None)]
    detectors = [str(name) for name in frame["detector"]]
    there: dict[tuple[object, ...], int] = {}
    for row in rows.tolist():
        there.setdefault((*same[row], detectors[row]), row)
    found = [(there.get((*same[row], base_of(detectors[row])), -1), row) for row in rows.tolist()]
    pairs = np.array([pair for pair in found if pair[0] >= 0], dtype=np.int64).reshape(-1, 2)
    return Pairs(pairs[:, 0], pairs[:, 1], ranking_metrics(frame)[pairs[:, 1]])


def over_base(frame: pd.DataFrame, runs: Sequence[Source] = (), tester: Tester | None = None) -> dict[int, OverBase]:
    """By the position of each row of GOOD, what it adds to its base.

    Args:
        frame: Leaderboard rows, with a column `board` if there are `runs`.
        runs: What the rows of each board are tested from.
        tester: What asks the answers of runs.
    """
    frame = frame.reset_index(drop=True)
    pairs = against_base(frame)
    if not len(pairs.b):
        return {}
    tests = pairs_tested(frame, pairs, runs, tester)
    value, lo, hi, _ = tests.difference()
    words = tests.verdicts(tests.judge(groups(frame)[pairs.b]))
    bases = frame["detector"].to_numpy(dtype=object)[pairs.a]
    found = {}
    for at, row in enumerate(pairs.b.tolist()):
        paired = at in tests.results
        known = paired and not np.isnan(lo[at])
        found[row] = OverBase(
            base=str(bases[at]),
            value=float(value[at]),
            lo=float(lo[at]) if known else None,
            hi=float(hi[at]) if known else None,
            verdict=str(words[at]),
            paired=paired,
        )
    return found
