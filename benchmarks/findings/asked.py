"""Which pairs of rows are tested: each question finds its pairs on any board, of a run folder or of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.references import REFERENCE_THRESHOLDS
from lgl_bench.leaderboard.compare.standing import Pairs
from lgl_bench.leaderboard.floor import against_floor
from lgl_bench.leaderboard.floor import label as role_of
from lgl_bench.leaderboard.ranking import against_best
from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.leaderboard.table.schema import COMPARABLE
from lgl_bench.leaderboard.values import ranking_metrics

SAME = ["stream", *COMPARABLE, "strategy", "backbone", "head", "threshold"]
"""What two rows of a wrapped pair have in common: all but the detector."""
WRAPPERS = ("good", "propagate")
REFERENCES = ("full", "finetune")
"""Strategies that the others are set against: one keeps everything, the other nothing."""
QUALITY = "accuracy"
"""What a strategy is set against others in, beside the metric that ranks."""


class Asked(NamedTuple):
    """Pairs of rows that a section asks about.

    Attributes:
        name: Of the question.
        by: Columns in which the two rows may differ; they name the rows of a pair.
        pairs: Finds the pairs of a board.
    """

    name: str
    by: tuple[str, ...]
    pairs: Callable[[pd.DataFrame], Pairs]


def wrapped_pairs(frame: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Positions of two rows that differ in what is wrapped around one base: base and wrapped, GOOD and propagated."""
    frame = frame.reset_index(drop=True)
    for rows in frame[frame["threshold"] == ""].groupby(SAME, sort=False).groups.values():
        by_detector: dict[Expression, int] = {}
        for at in rows:
            by_detector.setdefault(parse(frame["detector"].iloc[at]), int(at))
        for detector, at in by_detector.items():
            if detector.name not in WRAPPERS:
                continue
            (base,) = detector.arguments
            if base in by_detector:
                yield by_detector[base], at
            if detector.name == "propagate":
                yield from ((other, at) for other in _good_over(base, by_detector))


def _good_over(base: Expression, rows: dict[Expression, int]) -> list[int]:
    return [at for other, at in rows.items() if other.name == "good" and other.arguments == (base,)]


def strategy_pairs(frame: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Positions of `full` or `finetune` and of every other strategy with the same method."""
    frame = frame.reset_index(drop=True)
    same = [name for name in SAME if name != "strategy"]
    plain = frame[(frame["threshold"] == "") & (frame["strategy"] != "")]
    for rows in plain.groupby([*same, "detector"], sort=False).groups.values():
        by_strategy = {str(frame["strategy"].iloc[at]): int(at) for at in reversed(list(rows))}
        for reference in REFERENCES:
            if reference in by_strategy:
                a = by_strategy[reference]
                yield from ((a, b) for name, b in reversed(by_strategy.items()) if name != reference)


def threshold_pairs(frame: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Positions of the better of `never` and `always`, and of every threshold on the same detector."""
    frame = frame.reset_index(drop=True)
    decided = frame[frame["threshold"] != ""]
    same = [name for name in SAME if name not in ("threshold", "track")]
    for rows in decided.groupby([*same, "detector"], sort=False).groups.values():
        group = frame.loc[rows]
        references = group[group["threshold"].isin(REFERENCE_THRESHOLDS)]
        means = references[metric_column("mcc", "mean")].dropna()
        if len(means):
            best = int(means.index[int(np.argmax(means.to_numpy()))])
            roles = [role_of(row.detector, row.threshold) for row in group.itertuples()]
            yield from ((best, int(at)) for at, role in zip(group.index, roles, strict=True) if role == "")


def _ranked_by(found: Callable[[pd.DataFrame], Iterator[tuple[int, int]]]) -> Callable[[pd.DataFrame], Pairs]:
    return lambda frame: _pairs(frame, list(found(frame)))


def _pairs(frame: pd.DataFrame, listed: list[tuple[int, int]], metric: str | None = None) -> Pairs:
    both = np.array(listed, dtype=np.int64).reshape(-1, 2)
    return Pairs(both[:, 0], both[:, 1], ranking_metrics(frame, metric)[both[:, 1]])


def _strategies(frame: pd.DataFrame) -> Pairs:
    listed = list(strategy_pairs(frame))
    parts = zip(_pairs(frame, listed), _pairs(frame, listed, QUALITY), strict=True)
    return Pairs(*(np.concatenate(part) for part in parts))


def _best(frame: pd.DataFrame) -> Pairs:
    pairs = against_best(frame)
    plain = (frame["threshold"] == "").to_numpy(dtype=bool)[pairs.b]
    return Pairs(*(part[plain] for part in pairs))


METHOD = ("strategy", "backbone", "head", "detector")
WRAPPED = Asked("wrapped", ("detector",), _ranked_by(wrapped_pairs))
FLOOR = Asked("floor", METHOD, against_floor)
BEST = Asked("best", METHOD, _best)
STRATEGIES = Asked("strategy", ("strategy",), _strategies)
THRESHOLDS = Asked("threshold", ("threshold",), _ranked_by(threshold_pairs))
QUESTIONS = (WRAPPED, FLOOR, BEST, STRATEGIES, THRESHOLDS)


def is_good(detector: str) -> bool:
    """Whether a detector is GOOD over any base."""
    return plugin_name(detector) == WRAPPERS[0]
