"""From year rows to one value a method, seed and metric.

Accuracy and most others are means over the years that have a value. AUROC over years comes three ways:
`auroc_weighted` by the number of new vertices; `auroc_mean` over years with at least five of them, and over all folds;
`auroc_paper` over every year that has one, the validation year included. Scores of different years are never pooled:
they come from different models. Decisions are: `pooled.py` says how.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.leaderboard.pooled import COUNTS, REGRET, UNDEFINED, pooled, regret
from lgl_bench.leaderboard.schema import HEADLINE, KEY
from lgl_bench.metrics.over_time import area_over_time

METHOD_KEYS = KEY
"""What tells the methods of a run folder apart in its year rows: the key of their row."""
FEWEST_NEW = 5
_OF_AUROC = ("auroc_weighted", "auroc_mean", "auroc_paper")
_DECISIONS = ("micro_f1", "macro_f1", "open_f1", "rejected_share", *UNDEFINED)


@dataclass(frozen=True, slots=True)
class SeedValues:
    """One value a (method, seed) pair and metric; NaN where there is none.

    Attributes:
        methods: One row a method, in the order of their first appearance, with the columns `METHOD_KEYS`.
        row_method: Of each year row, the row of `methods`.
        method: Of each pair, the row of `methods`.
        seed: Of each pair.
        values: Per metric, of each pair.
        years: Per metric, the number of years or folds behind each value.
        reasons: Per metric, why a method has no value: one text a method, "" where nobody said.
    """

    methods: pd.DataFrame
    row_method: IntArray
    method: IntArray
    seed: IntArray
    values: dict[str, FloatArray]
    years: dict[str, IntArray]
    reasons: dict[str, npt.NDArray[np.object_]]


def seed_values(years: pd.DataFrame) -> SeedValues:
    """Aggregates year rows over years and folds, for every metric they hold."""
    keys = list(METHOD_KEYS)
    method: IntArray = np.asarray(years.groupby(keys, sort=False).ngroup(), dtype=np.int64)
    methods = years[keys].drop_duplicates().reset_index(drop=True)
    ok = (years["status"] == "ok").to_numpy(dtype=bool)
    pairs = pd.MultiIndex.from_arrays([method[ok], years["seed"].to_numpy()[ok]])
    codes, seen = pd.factorize(pairs, sort=True)
    pair = np.full(len(years), -1, dtype=np.int64)
    pair[ok] = codes
    test = ok & (years["role"] == "test").to_numpy(dtype=bool)
    # A validation fold of a static protocol hides a class of its own; only a validation year joins auroc_paper.
    is_year = (years["fold"] == "").to_numpy(dtype=bool)
    any_year = ok & (test | is_year)
    found = SeedValues(
        methods,
        method,
        np.array(seen.get_level_values(0), dtype=np.int64),
        np.array(seen.get_level_values(1), dtype=np.int64),
        {},
        {},
        {},
    )
    new = years["n_new"].to_numpy(dtype=np.float64) if "n_new" in years else np.full(len(years), np.nan)
    for metric in (name for name in metrics_of(years) if name not in UNDEFINED):
        column = "auroc" if metric in _OF_AUROC else metric
        numbers = years[column].to_numpy(dtype=np.float64) if column in years else np.full(len(years), np.nan)
        among, weights = test, np.ones(len(years))
        if metric == "auroc_weighted":
            weights = new
        elif metric == "auroc_mean":
            among = test & ((new >= FEWEST_NEW) | ~is_year)
        elif metric == "auroc_paper":
            among = any_year
        _fill(found, metric, pair, among & ~np.isnan(numbers), numbers, weights)
        found.reasons[metric] = _reasons(years, metric, column, method, ok, test, len(methods))
    _fill_pooled(found, years, pair, test)
    for metric in UNDEFINED:
        found.reasons[metric] = _reasons(years, metric, "", method, ok, test, len(methods))
    for column in ("auroc", "accuracy"):
        _fill_area(found, f"{column}_area", years, column, pair, test)
        found.reasons[f"{column}_area"] = _reasons(years, "", column, method, ok, test, len(methods))
    folds = np.zeros(len(methods), dtype=bool)
    folds[method[~is_year]] = True
    for column in ("auroc", "accuracy"):
        reasons = found.reasons[f"{column}_area"]
        reasons[folds & (reasons != "")] = "tasks are folds, not years"
    return found


def metrics_of(years: pd.DataFrame) -> list[str]:
    """The headline metrics, and every other one the year rows hold with its reasons."""
    others = [str(name).removesuffix("_reason") for name in years if str(name).endswith("_reason")]
    return [*HEADLINE, *sorted(name for name in others if name not in HEADLINE and name != "auroc" and name in years)]


def _fill(
    found: SeedValues, metric: str, pair: IntArray, among: BoolArray, numbers: FloatArray, weights: FloatArray
) -> None:
    size = len(found.method)
    total = np.bincount(pair[among], weights=numbers[among] * weights[among], minlength=size)
    weight = np.bincount(pair[among], weights=weights[among], minlength=size)
    count = np.bincount(pair[among], minlength=size)
    there = weight > 0
    found.values[metric] = np.where(there, total / np.where(there, weight, 1.0), np.nan)
    found.years[metric] = np.where(there, count, 0).astype(np.int64)


def _fill_pooled(found: SeedValues, years: pd.DataFrame, pair: IntArray, test: BoolArray) -> None:
    sums = pooled(years, pair, test, len(found.method))
    for metric, values in sums.scores().items():
        found.values[metric] = values
        found.years[metric] = np.where(np.isnan(values), 0, sums.years)
    mcc = found.values["mcc"]
    found.values[REGRET] = regret(found.methods, found.method, found.seed, mcc, sums.years)
    found.years[REGRET] = np.where(np.isnan(found.values[REGRET]), 0, sums.years)


def _fill_area(
    found: SeedValues, metric: str, years: pd.DataFrame, column: str, pair: IntArray, test: BoolArray
) -> None:
    """Area under the metric against the years; folds of a static graph have none."""
    size = len(found.method)
    found.values[metric], found.years[metric] = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
    numbers = years[column].to_numpy(dtype=np.float64) if column in years else np.full(len(years), np.nan)
    times = years["time"].to_numpy(dtype=np.float64)
    rows = np.flatnonzero(test & (years["fold"] == "").to_numpy(dtype=bool))
    order = rows[np.argsort(pair[rows], kind="stable")]
    for part in np.split(order, np.flatnonzero(np.diff(pair[order])) + 1) if len(order) else []:
        area = area_over_time(times[part], numbers[part])
        if area.value is not None:
            found.values[metric][pair[part[0]]], found.years[metric][pair[part[0]]] = area.value, area.years


def _reasons(
    years: pd.DataFrame, metric: str, column: str, method: IntArray, ok: BoolArray, test: BoolArray, size: int
) -> npt.NDArray[np.object_]:
    """Why a method has no value: what its first year says, else what its failed fits say, else the general reason."""
    found = np.full(size, "", dtype=object)
    general = "no value in any year"
    if metric in UNDEFINED:
        counted = all(name in years for name in COUNTS)
        general = UNDEFINED[metric] if counted else "the year rows hold no counts of decisions"
    elif metric in _OF_AUROC:
        general = f"no year with {FEWEST_NEW} new vertices" if metric == "auroc_mean" else "no year with new vertices"
    said = years.get(f"{column}_reason")
    if said is not None and metric != "auroc_mean":
        _first(found, method, said, test)
    answered = np.zeros(size, dtype=bool)
    answered[method[ok]] = True
    found[answered & (found == "")] = general
    if "threshold" in years and metric in _DECISIONS:
        plain = np.zeros(size, dtype=bool)
        plain[method[(years["threshold"] == "").to_numpy(dtype=bool)]] = True
        found[plain & answered] = "no threshold"
    failed = np.full(size, "", dtype=object)
    if "reason" in years:
        _first(failed, method, years["reason"], ~ok)
    failed[failed == ""] = "no seed finished"
    found[~answered] = failed[~answered]
    return found


def _first(found: npt.NDArray[np.object_], method: IntArray, said: pd.Series[str], among: BoolArray) -> None:
    texts = said.fillna("").astype(str).to_numpy(dtype=object)
    at = np.flatnonzero(among & (texts != ""))[::-1]
    found[method[at]] = texts[at]  # the last assignment wins, and that is the first year
