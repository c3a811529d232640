"""From year rows to one value per method, seed and metric, as `Aggregate` of the metric says.

Scores of different years are never pooled: they come from different models. Decisions are: `pooled.py` says how.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import behind_column
from lgl_bench.leaderboard.pooled import COUNTS, REGRET, pooled, regret
from lgl_bench.leaderboard.table.schema import HEADLINE
from lgl_bench.metrics import Aggregate, metrics
from lgl_bench.metrics.contract import MIN_NEW
from lgl_bench.metrics.over_time import area_over_time


@dataclass(frozen=True, slots=True)
class SeedValues:
    """One value per (method, seed) pair and metric; NaN if there is none.

    Attributes:
        methods: One row per method, in the order of their first appearance, with the columns `KEY`.
        row_method: Of each year row, the row of `methods`.
        method: Of each pair, the row of `methods`.
        seed: Of each pair.
        values: Per metric, of each pair.
        years: Per metric, the number of years or folds behind each value.
        reasons: Per metric, why a method has no value: one text per method, "" if no year says.
    """

    methods: pd.DataFrame
    row_method: IntArray
    method: IntArray
    seed: IntArray
    values: dict[str, FloatArray]
    years: dict[str, IntArray]
    reasons: dict[str, npt.NDArray[np.object_]]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Year rows, by column.

    Attributes:
        frame: All of them.
        method: Of each, the method it belongs to.
        pair: Of each that was answered, its (method, seed); otherwise -1.
        ok: Which were answered.
        test: Which of these belong to test years or folds.
        is_year: Which are years, not folds of a static graph.
        new: New vertices of each.
    """

    frame: pd.DataFrame
    method: IntArray
    pair: IntArray
    ok: BoolArray
    test: BoolArray
    is_year: BoolArray
    new: FloatArray

    def numbers(self, column: str) -> FloatArray:
        """A column; NaN if there is none."""
        if column not in self.frame:
            return np.full(len(self.frame), np.nan)
        found: FloatArray = self.frame[column].to_numpy(dtype=np.float64)
        return found


def seed_values(years: pd.DataFrame) -> SeedValues:
    """Aggregates year rows over years and folds, for every metric they hold."""
    keys = list(KEY)
    method: IntArray = np.asarray(years.groupby(keys, sort=False).ngroup(), dtype=np.int64)
    methods = years[keys].drop_duplicates().reset_index(drop=True)
    ok = (years["status"] == "ok").to_numpy(dtype=bool)
    pairs = pd.MultiIndex.from_arrays([method[ok], years["seed"].to_numpy()[ok]])
    codes, seen = pd.factorize(pairs, sort=True)
    pair = np.full(len(years), -1, dtype=np.int64)
    pair[ok] = codes
    new = years["n_new"].to_numpy(dtype=np.float64) if "n_new" in years else np.full(len(years), np.nan)
    test = ok & (years["role"] == "test").to_numpy(dtype=bool)
    rows = _Rows(years, method, pair, ok, test, (years["fold"] == "").to_numpy(dtype=bool), new)
    of_pair, seed = (np.array(seen.get_level_values(level), dtype=np.int64) for level in (0, 1))
    found = SeedValues(methods, method, of_pair, seed, {}, {}, {})
    _fill_pooled(found, rows)
    for metric in metrics_of(years):
        described = metrics.described(metric)
        column = metrics.year_column(metric)
        if described.over_years is Aggregate.AREA:
            _fill_area(found, metric, rows, column)
        elif described.over_years is Aggregate.SO_FAR:
            _fill_last(found, metric, rows, column)
        elif metric not in found.values:
            _fill(found, metric, rows, column)
        found.reasons[metric] = _reasons(rows, metric, column, len(methods))
    return found


def metrics_of(years: pd.DataFrame) -> list[str]:
    """The headline metrics, then, sorted, those that are no plain mean over years, and what the year rows hold."""
    held = {str(name).removesuffix("_reason") for name in years if str(name).endswith("_reason")} & {*years.columns}
    shared = {metrics.year_column(plugin.name) for plugin in metrics.in_order()} - {*metrics.names()}
    others = {plugin.name for plugin in metrics.in_order() if plugin.over_years is not Aggregate.MEAN}
    return [*HEADLINE, *sorted((others | held) - shared - {*HEADLINE})]


def _fill(found: SeedValues, metric: str, rows: _Rows, column: str) -> None:
    """The mean over years, as the metric's aggregate weighs them."""
    over_years, numbers = metrics.described(metric).over_years, rows.numbers(column)
    among, weights = rows.test, np.ones(len(numbers))
    if over_years is Aggregate.BY_NEW:
        weights = rows.new
    elif over_years is Aggregate.ENOUGH_NEW:
        among = rows.test & ((rows.new >= MIN_NEW) | ~rows.is_year)
    elif over_years is Aggregate.EVERY_YEAR:
        # A validation fold of a static protocol hides a class of its own; only a validation year joins.
        among = rows.ok & (rows.test | rows.is_year)
    among = among & ~np.isnan(numbers)
    size, pair = len(found.method), rows.pair[among]
    total = np.bincount(pair, weights=numbers[among] * weights[among], minlength=size)
    weight = np.bincount(pair, weights=weights[among], minlength=size)
    count = np.bincount(pair, minlength=size)
    there = weight > 0
    found.values[metric] = np.where(there, total / np.where(there, weight, 1.0), np.nan)
    found.years[metric] = np.where(there, count, 0).astype(np.int64)


def _fill_pooled(found: SeedValues, rows: _Rows) -> None:
    sums = pooled(rows.frame, rows.pair, rows.test, len(found.method))
    found.values.update(sums.scores())
    found.values[REGRET] = regret(found.methods, found.method, found.seed, found.values["mcc"], sums.years)
    for metric, values in found.values.items():
        found.years[metric] = np.where(np.isnan(values), 0, sums.years)


def _fill_area(found: SeedValues, metric: str, rows: _Rows, column: str) -> None:
    """Area under the metric against the years; folds of a static graph have none."""
    size = len(found.method)
    found.values[metric], found.years[metric] = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
    numbers, times = rows.numbers(column), rows.numbers("time")
    among = np.flatnonzero(rows.test & rows.is_year)
    order = among[np.argsort(rows.pair[among], kind="stable")]
    for part in np.split(order, np.flatnonzero(np.diff(rows.pair[order])) + 1) if len(order) else []:
        area = area_over_time(times[part], numbers[part])
        if area.value is not None:
            pair = rows.pair[part[0]]
            found.values[metric][pair], found.years[metric][pair] = area.value, area.years


def _fill_last(found: SeedValues, metric: str, rows: _Rows, column: str) -> None:
    """That of the last test year that was answered, which is over all years up to it."""
    size = len(found.method)
    found.values[metric], found.years[metric] = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
    among = np.flatnonzero(rows.test)
    among = among[np.argsort(rows.numbers("time")[among], kind="stable")]
    pair = rows.pair[among]  # of several assignments the last one, which is the latest year's, stays
    found.values[metric][pair] = rows.numbers(column)[among]
    behind = np.nan_to_num(rows.numbers(behind_column(metric))[among])
    found.years[metric][pair] = behind.astype(np.int64)


def _reasons(rows: _Rows, metric: str, column: str, size: int) -> npt.NDArray[np.object_]:
    """Why a method has no value: what its first year says, else what its failed fits say, else the general reason."""
    years, described = rows.frame, metrics.described(metric)
    found = np.full(size, "", dtype=object)
    reasons = years.get(f"{column}_reason") if column else None
    if reasons is not None and described.over_years is Aggregate.SO_FAR:
        _first(found, rows.method, reasons, rows.test & _latest(rows))
    elif reasons is not None and described.over_years is not Aggregate.ENOUGH_NEW:
        _first(found, rows.method, reasons, rows.test)
    answered = _methods_of(rows.method[rows.ok], size)
    counted = column or all(name in years for name in COUNTS)
    found[answered & (found == "")] = described.undefined if counted else "the year rows hold no counts of decisions"
    if "threshold" in years and "decision" in described.needs:
        plain = _methods_of(rows.method[(years["threshold"] == "").to_numpy(dtype=bool)], size)
        found[plain & answered] = "no threshold"
    failed = np.full(size, "", dtype=object)
    if "reason" in years:
        _first(failed, rows.method, years["reason"], ~rows.ok)
    failed[failed == ""] = "no seed finished"
    found[~answered] = failed[~answered]
    if described.over_years is Aggregate.AREA:
        found[_methods_of(rows.method[~rows.is_year], size) & (found != "")] = "tasks are folds, not years"
    return found


def _latest(rows: _Rows) -> BoolArray:
    """Which rows are of the last test year of their method and seed."""
    times = np.where(rows.test, rows.numbers("time"), -np.inf)
    last = np.full(int(rows.pair.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(last, rows.pair[rows.test], times[rows.test])
    found: BoolArray = rows.test & (times == np.append(last, np.nan)[rows.pair])
    return found


def _methods_of(rows: IntArray, size: int) -> BoolArray:
    """Which methods occur among rows, given by the method of each."""
    found = np.zeros(size, dtype=bool)
    found[rows] = True
    return found


def _first(found: npt.NDArray[np.object_], method: IntArray, reasons: pd.Series[str], among: BoolArray) -> None:
    texts = reasons.fillna("").astype(str).to_numpy(dtype=object)
    at = np.flatnonzero(among & (texts != ""))[::-1]
    found[method[at]] = texts[at]  # the last assignment wins, and that is the first year
