"""Values over the years: the mean over seeds of each year, with a band."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lgl_bench.grading.board_years import CURVES
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.stats.student import quantile

MIN_SEEDS = 3
_COUNTS = ("n_new", "n_scored")


@dataclass(frozen=True, slots=True)
class Point:
    """One metric of one year or fold; lo and hi are equal to mean if there is one seed."""

    mean: float
    lo: float
    hi: float
    seeds: int


@dataclass(frozen=True, slots=True)
class Curve:
    """A method over the years of a stream, or over the folds of a static one.

    Attributes:
        at: Years, or names of folds.
        over_years: Whether `at` are years.
        test: Which count for the leaderboard; the others choose parameters.
        n_new: New vertices in each.
        n_scored: Vertices scored in each.
        values: Per metric, a point for each entry of `at`; None if it is undefined.
    """

    at: tuple[int | str, ...]
    over_years: bool
    test: tuple[bool, ...]
    n_new: tuple[float, ...]
    n_scored: tuple[float, ...]
    values: Mapping[str, tuple[Point | None, ...]]

    def means(self, metric: str) -> list[float | None]:
        """The plain values of a metric."""
        return [None if point is None else point.mean for point in self.values.get(metric, ())]


def curves_of(years: pd.DataFrame) -> dict[tuple[str, ...], Curve]:
    """The curve of every method in year rows, by the values of `KEY`."""
    if not len(years):
        return {}
    keys = list(KEY)
    fine = years[years["status"] == "ok"]
    if not len(fine):
        return {}
    row = fine.groupby(keys, sort=False).ngroup()
    metrics = [name for name in CURVES if name in fine]
    counts = [name for name in _COUNTS if name in fine]
    names = list(fine[keys].drop_duplicates().itertuples(index=False, name=None))
    grouped = fine.assign(_row=row).groupby(["_row", "time", "fold"], sort=True)
    spread = {name: grouped[name].agg(["mean", "std", "min", "max", "count"]) for name in metrics}
    first = grouped.agg({**dict.fromkeys(counts, "mean"), "role": "first"}).reset_index()
    points = {name: _points(spread[name]) for name in metrics}
    found: dict[tuple[str, ...], Curve] = {}
    starts = np.flatnonzero(np.diff(first["_row"])) + 1
    for number, where in enumerate(np.split(np.arange(len(first)), starts)):
        part = first.iloc[where]
        over_years = part["time"].nunique() > 1 or not part["fold"].iloc[0]
        at = [int(time) for time in part["time"]] if over_years else [str(fold) for fold in part["fold"]]
        n_new, n_scored = (tuple(part[name].fillna(0)) if name in part else (0.0,) * len(at) for name in _COUNTS)
        values = {name: tuple(points[name][i] for i in where) for name in metrics}
        found[names[number]] = Curve(tuple(at), over_years, tuple(part["role"] == "test"), n_new, n_scored, values)
    return found


def _points(spread: pd.DataFrame) -> list[Point | None]:
    return [
        point(mean, std, low, high, int(count))
        for mean, std, low, high, count in spread.itertuples(index=False, name=None)
    ]


def point(mean: float, std: float, low: float, high: float, count: int) -> Point | None:
    """Student's 95 % interval from three seeds on; with two, what they span.

    >>> point(0.5, 0.1, 0.4, 0.6, 2)
    Point(mean=0.5, lo=0.4, hi=0.6, seeds=2)
    """
    if not count or math.isnan(mean):
        return None
    if count < MIN_SEEDS:
        return Point(mean, low, high, count)
    half = float(quantile(count - 1)) * std / math.sqrt(count)
    return Point(mean, mean - half, mean + half, count)
