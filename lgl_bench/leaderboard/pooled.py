"""Decisions of all test years of a seed, graded together.

Decisions are final, so their counts may be added up over the test years (or folds) of a seed, and years without new
vertices count their false alarms. With TP new and rejected, FN new and accepted, FP known and rejected, TN known and
accepted:

    mcc               Matthews' correlation of the four sums
    recall_new        TP / (TP + FN)
    false_alarm_rate  FP / (FP + TN)
    regret            mcc of the row with the same method and the threshold `oracle`, less the row's own

Rejecting nobody and rejecting everybody have an mcc of 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.references import ORACLE
from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.metrics import metrics

REGRET = "regret"
COUNTS = ("n_new", "n_scored", "new_rejected", "known_rejected")
"""Columns of the year rows that they are made from."""


class Pooled(NamedTuple):
    """Sums over the test years of a seed, one entry per (method, seed); `years` says over how many."""

    tp: FloatArray
    tn: FloatArray
    fp: FloatArray
    fn: FloatArray
    years: IntArray

    def scores(self) -> dict[str, FloatArray]:
        """Every pooled metric; NaN if it is undefined."""
        new, known = self.tp + self.fn > 0, self.tn + self.fp > 0
        there = {"new": new, "known": known, "both": new & known, "all": new | known}
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                name: np.where(there[plugin.looks_at], plugin().pool(self.tp, self.tn, self.fp, self.fn), np.nan)
                for name, plugin in metrics.pooled().items()
            }


def pooled(years: pd.DataFrame, pair: IntArray, test: BoolArray, size: int) -> Pooled:
    """Adds up the counts of year rows.

    Args:
        years: Year rows; those without a threshold have no counts.
        pair: Of each row, its (method, seed).
        test: Rows that count.
        size: Number of pairs.
    """
    if any(name not in years for name in COUNTS):
        nothing = np.zeros(size)
        return Pooled(nothing, nothing, nothing, nothing, np.zeros(size, dtype=np.int64))
    new, scored, tp, fp = (years[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in COUNTS)
    among = test & ~np.isnan(tp) & ~np.isnan(fp)

    def total(counts: FloatArray) -> FloatArray:
        return np.bincount(pair[among], weights=counts[among], minlength=size).astype(np.float64)

    behind = np.bincount(pair[among], minlength=size).astype(np.int64)
    return Pooled(total(tp), total(scored - new - fp), total(fp), total(new - tp), behind)


def regret(methods: pd.DataFrame, method: IntArray, seed: IntArray, mcc: FloatArray, years: IntArray) -> FloatArray:
    """The oracle's mcc less one's own, per (method, seed); NaN if the oracle has no row over as many years.

    Args:
        methods: One row per method.
        method: Of each pair, the row of `methods`.
        seed: Of each pair.
        mcc: Of each pair.
        years: Of each pair, the number of years behind its mcc.
    """
    base = same_detector(methods)[method]
    oracle = methods["threshold"].map(is_oracle).to_numpy(dtype=bool)[method]
    pairs = pd.DataFrame({"base": base, "seed": seed, "mcc": mcc, "years": years})
    beside = pairs.merge(pairs[oracle].drop_duplicates(["base", "seed"]), on=["base", "seed"], how="left")
    found: FloatArray = np.where(beside["years_x"] == beside["years_y"], beside["mcc_y"] - beside["mcc_x"], np.nan)
    return found


def same_detector(methods: pd.DataFrame) -> IntArray:
    """A number per method, equal for those that differ in nothing but their threshold.

    Thresholds that see the truth or the test graph have tracks of their own.
    """
    same = [name for name in methods if name not in ("threshold", "track")]
    return np.asarray(methods.groupby(same, sort=False).ngroup(), dtype=np.int64)


def is_oracle(threshold: str) -> bool:
    """Whether a threshold is the one that is shown the truth."""
    return plugin_name(threshold) == ORACLE
