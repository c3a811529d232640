"""How rows stand to a reference row: the one place that decides, for `show`, `compare`, the page and the floor.

Two rows are told apart if p, adjusted by Holm over the family, is below 5 %. With the answers of a run folder p
comes from the paired bootstrap or the corrected resampled t (`testing.py`), for a table with tests beside it from
these (`board_tests.py`), and from tables alone from Welch's t. If they are not told apart, the number of seeds decides
on the word: if the difference, staying as it is, would be found with up to a hundred seeds in all, it is "inconclusive
(n more seeds)", otherwise a "tie".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.compare.answers import Cells, Run
from lgl_bench.leaderboard.compare.board_tests import BoardTests, Source
from lgl_bench.leaderboard.compare.questions import NOT_TESTED, WELCH, PairResult, Question
from lgl_bench.leaderboard.compare.testing import Tester
from lgl_bench.leaderboard.stats.evidence import ALPHA, Evidence, Unpaired, more_seeds
from lgl_bench.leaderboard.stats.holm import holm, level_divisors
from lgl_bench.leaderboard.stats.resampled import shared_part
from lgl_bench.leaderboard.stats.student import Difference
from lgl_bench.leaderboard.table.names import PRINTED, Fact, Suffix, metric_column
from lgl_bench.leaderboard.table.schema import COMPARABLE
from lgl_bench.leaderboard.values import Texts, direction

BEST, BEHIND, TIE, UNTESTED = "best", "behind", "tie", "untested"
INCONCLUSIVE = "inconclusive"
UNRANKED, INCOMPLETE = "unranked", "incomplete"
BETTER, WORSE, UNDEFINED = "better", "worse", "undefined"


class Pairs(NamedTuple):
    """Rows by their positions: the reference rows, those set against them, and the metric of each pair."""

    a: IntArray
    b: IntArray
    metrics: Texts


class Judged(NamedTuple):
    """Tests within their families: adjusted p and interval, and how many more seeds would tell two rows apart.

    The interval leaves out 0 if and only if the adjusted p is below 5 %. `more` is NaN if no number would, and if the
    two are told apart already.
    """

    p_holm: FloatArray
    more: FloatArray
    lo: FloatArray
    hi: FloatArray


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences b - a of many pairs of rows, each in one metric.

    Attributes:
        sign: 1 if more is better, else -1.
        tables: The two rows of each pair as their table has them.
        results: What the answers showed, by pair; pairs that are not here have tables only.
        paired: The same as columns, NaN if there are tables only.
        printed: Pairs with a printed row, which are never tested.
    """

    sign: FloatArray
    tables: Unpaired
    results: dict[int, PairResult]
    paired: Evidence
    printed: BoolArray

    def difference(self) -> Difference:
        """Values, intervals and p."""
        at = np.arange(len(self.sign))
        # Without a seed in common there is no paired difference; that of the means stays, untested.
        value, lo, hi, p = self._at(at, 0)
        return Difference(np.where(np.isnan(value), self.tables.value, value), lo, hi, p)

    def judge(self, family: npt.NDArray[Any]) -> Judged:
        """Holm's adjustment within each family, and how many more seeds it would take."""
        found = Judged(*(np.full(len(self.sign), np.nan) for _ in Judged._fields))
        value, _, _, p = self.difference()
        for rows in pd.Series(np.arange(len(family))).groupby(family, sort=False).indices.values():
            at = np.asarray(rows, dtype=np.int64)
            found.p_holm[at] = holm(p[at])
            adjusted = self._at(at, 0, level_divisors(p[at], ALPHA))
            found.lo[at], found.hi[at] = adjusted.lo, adjusted.hi
            # A difference of exactly 0 stays one with any number of seeds.
            open_ = (found.p_holm[at] >= ALPHA) & (value[at] != 0)
            if open_.any():
                found.more[at] = np.where(open_, self._more(at), np.nan)
        return found

    def verdicts(self, judged: Judged) -> Texts:
        """The word on b: better, worse, tie, inconclusive with the seeds it lacks, untested or undefined."""
        value = self.difference().value
        words = np.where(self.sign * value > 0, BETTER, WORSE).astype(object)
        open_ = judged.p_holm >= ALPHA
        words[open_] = [TIE if np.isnan(more) else inconclusive(int(more)) for more in judged.more[open_]]
        words[np.isnan(judged.p_holm)] = UNTESTED
        words[(value == 0) & ~self.printed] = TIE
        words[np.isnan(value)] = UNDEFINED
        return words

    def _more(self, at: IntArray) -> FloatArray:
        def p_at(least: int) -> FloatArray:
            found: FloatArray = self._at(at, least).p
            return found

        return more_seeds(p_at, self.seeds[at])

    def _at(self, at: IntArray, least: int, tests: FloatArray | float = 1.0) -> Difference:
        """Differences of some pairs, if each had at least so many seeds, with intervals of tests that share a level."""
        tables = Unpaired(*(part[at] for part in self.tables)).difference(least, tests)
        paired = Evidence(*(part[at] for part in self.paired)).difference(least, tests)
        asked, untested = ~np.isnan(self.paired.seeds[at]), self.printed[at]
        value, *rest = (np.where(asked, one, other) for one, other in zip(paired, tables, strict=True))
        return Difference(value, *(np.where(untested, np.nan, part) for part in rest))

    @property
    def seeds(self) -> FloatArray:
        """Seeds behind each test."""
        return np.where(np.isnan(self.paired.seeds), self.tables.seeds, self.paired.seeds)

    @property
    def names(self) -> Texts:
        """Which test each pair had."""
        found = np.where(self.printed, NOT_TESTED, WELCH).astype(object)
        for number, result in self.results.items():
            found[number] = result.test
        return found


def groups(frame: pd.DataFrame) -> IntArray:
    """Numbers the groups of rows that may be compared; rows with a threshold are among themselves."""
    decided = (frame["threshold"] != "").rename("decided")
    keys = [frame[name] for name in ("stream", *COMPARABLE)]
    return np.asarray(frame.groupby([*keys, decided], sort=True).ngroup(), dtype=np.int64)


def best_of_each(group: IntArray, value: FloatArray) -> IntArray:
    """Of each row, the position of the best row of its group, the first of equals; -1 if no row has a value.

    >>> best_of_each(np.array([0, 1, 0, 0, 2]), np.array([0.5, 0.1, 0.7, 0.7, np.nan])).tolist()
    [2, 1, 2, 2, -1]
    """
    best = np.full(int(group.max(initial=-1)) + 1, -1, dtype=np.int64)
    rows = np.flatnonzero(~np.isnan(value))
    order = rows[np.argsort(-value[rows], kind="stable")][::-1]
    best[group[order]] = order  # the last assignment wins, and that is the best
    return best[group]


def inconclusive(more: int) -> str:
    """The word for rows that more seeds would tell apart.

    >>> inconclusive(14), inconclusive(1)
    ('inconclusive (14 more seeds)', 'inconclusive (1 more seed)')
    """
    return f"{INCONCLUSIVE} ({more} more {'seed' if more == 1 else 'seeds'})"


def word_of(standing: str) -> str:
    """A standing or verdict without the number of seeds it lacks.

    >>> word_of("inconclusive (14 more seeds)"), word_of("tie")
    ('inconclusive', 'tie')
    """
    return standing.partition(" (")[0]


def seeds_lacking(standing: str) -> str:
    """The number of seeds that an inconclusive standing lacks, as text; "" for any other.

    >>> seeds_lacking("inconclusive (14 more seeds)"), seeds_lacking("tie")
    ('14', '')
    """
    return standing.partition(" (")[2].partition(" ")[0]


def pairs_tested(
    frame: pd.DataFrame, pairs: Pairs, runs: Sequence[Source] = (), tester: Tester | None = None
) -> Differences:
    """Tests pairs of rows, from answers if both rows have a run folder.

    Args:
        frame: Leaderboard rows, with a column `board` if there are `runs`.
        pairs: Which, and in which metric.
        runs: What the rows of each board are tested from.
        tester: What asks the answers; a new one otherwise.
    """
    a, b, metrics = pairs
    mean, std, seeds = _figures(frame, pairs, "mean"), _figures(frame, pairs, "std"), _figures(frame, pairs, "n_seeds")
    printed = (frame[Fact.TRUST] == PRINTED).to_numpy(dtype=bool)
    shared = frame["split"].map(shared_part).to_numpy(dtype=np.float64)[b]
    tables = Unpaired(mean[0], std[0], seeds[0], mean[1], std[1], seeds[1], shared)
    signs = {name: direction(name) for name in set(metrics)}
    sign = np.array([signs[name] for name in metrics], dtype=np.float64)
    of_paper = printed[a] | printed[b]
    results: dict[int, PairResult] = {}
    if any(run is not None for run in runs):
        defined = np.flatnonzero(~np.isnan(tables.value) & ~of_paper)
        questions, results = _questions(frame, pairs, runs, defined), _looked_up(frame, pairs, runs, defined, tables)
        answered = (tester or Tester()).ask(list(questions.values()))
        results |= dict(zip(questions, answered, strict=True))
    return Differences(sign, tables, results, _columns(results, len(a)), of_paper)


def _columns(results: Mapping[int, PairResult], count: int) -> Evidence:
    found = Evidence(*(np.full(count, np.nan) for _ in Evidence._fields))
    at = np.array(list(results), dtype=np.int64)
    for column, cells in zip(found, zip(*(one.evidence for one in results.values()), strict=True), strict=False):
        column[at] = cells
    return found


def _figures(frame: pd.DataFrame, pairs: Pairs, suffix: Suffix) -> tuple[FloatArray, FloatArray]:
    a, b, metrics = pairs
    left, right = np.full(len(a), np.nan), np.full(len(b), np.nan)
    for name in set(metrics):
        here = metrics == name
        values = frame[metric_column(name, suffix)].to_numpy(dtype=np.float64, na_value=np.nan)
        left[here], right[here] = values[a[here]], values[b[here]]
    return left, right


def _looked_up(
    frame: pd.DataFrame, pairs: Pairs, runs: Sequence[Source], among: IntArray, tables: Unpaired
) -> dict[int, PairResult]:
    """Pairs of one table that have a test beside it."""
    if not any(isinstance(source, BoardTests) for source in runs):
        return {}
    cells = _methods(frame)
    board = frame["board"].to_numpy(dtype=np.int64)
    found = {}
    for at in among.tolist():
        i, j = int(pairs.a[at]), int(pairs.b[at])
        tests = runs[board[i]]
        if isinstance(tests, BoardTests) and board[i] == board[j]:
            means = float(tables.mean_a[at]), float(tables.mean_b[at])
            result = tests.get((cells[i], cells[j], str(pairs.metrics[at])), means)
            if result is not None:
                found[at] = result
    return found


def _questions(frame: pd.DataFrame, pairs: Pairs, runs: Sequence[Source], among: IntArray) -> dict[int, Question]:
    a, b, metrics = pairs
    cells = _methods(frame)
    board, split = frame["board"].to_numpy(dtype=np.int64), frame["split"].to_numpy(dtype=object)
    checksum = frame["stream_checksum"].to_numpy(dtype=object)
    found = {}
    for at in among.tolist():
        i, j = int(a[at]), int(b[at])
        one, other = runs[board[i]], runs[board[j]]
        if isinstance(one, Run) and isinstance(other, Run):
            methods = (one, cells[i]), (other, cells[j])
            found[at] = Question(*methods, str(metrics[at]), str(split[j]), str(checksum[j]))
    return found


def _methods(frame: pd.DataFrame) -> list[Cells]:
    """What names the method of each row."""
    return list(frame[list(KEY)].astype(str).itertuples(index=False, name=None))
