"""From year rows to leaderboard rows: mean over years and folds, then over seeds, with intervals.

Accuracy is the mean over years. AUROC over years comes three ways: `auroc_weighted` by the number of new vertices,
which ranks; `auroc_mean` over years with at least five new vertices; `auroc_paper` over every year that has one, the
validation year included. The others are means over the years that have a value. Scores of different years are never
pooled: they come from different models.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats

METRICS = (
    "accuracy",
    "auroc_weighted",
    "auroc_mean",
    "auroc_paper",
    "aupr",
    "fpr95",
    "oscr",
    "micro_f1",
    "macro_f1",
    "mcc",
)
FEWEST_NEW = 5
FEWEST_SEEDS = 3


def seed_values(years: pd.DataFrame) -> dict[str, tuple[float | None, int, str]]:
    """Every metric of one seed: value, number of years or folds behind it, reason where there is none."""
    test = years[years["role"] == "test"]
    found = {
        "auroc_weighted": _weighted(test),
        "auroc_mean": _mean(test[test["n_new"] >= FEWEST_NEW]["auroc"], f"no year with {FEWEST_NEW} new vertices"),
        "auroc_paper": _mean(years["auroc"], "no year with new vertices"),
    }
    for metric in METRICS:
        if metric not in found:
            column = test[metric] if metric in test else pd.Series(dtype=float)
            reasons = test.get(f"{metric}_reason", pd.Series(dtype=str))
            found[metric] = _mean(column, _first(reasons) or "no value in any year")
    return found


def summary(values: Iterable[float | None], reasons: Iterable[str], years: Iterable[int]) -> dict[str, Any]:
    """Mean over seeds, deviation, and Student's interval from three seeds on."""
    numbers = [value for value in values if value is not None]
    reason = "" if numbers else _first(reasons)
    low = high = deviation = None
    if len(numbers) > 1:
        deviation = float(np.std(numbers, ddof=1))
    if len(numbers) >= FEWEST_SEEDS and deviation is not None:
        half = float(scipy.stats.t.ppf(0.975, len(numbers) - 1)) * deviation / len(numbers) ** 0.5
        low, high = float(np.mean(numbers)) - half, float(np.mean(numbers)) + half
    return {
        "mean": float(np.mean(numbers)) if numbers else None,
        "std": deviation,
        "lo": low,
        "hi": high,
        "n_seeds": len(numbers),
        "n_years": max(years, default=0),
        "reason": reason,
    }


def _weighted(test: pd.DataFrame) -> tuple[float | None, int, str]:
    defined = test[test["auroc"].notna()]
    total = float(defined["n_new"].sum())
    if not total:
        return None, 0, _first(test.get("auroc_reason", [])) or "no year with new vertices"
    return float((defined["auroc"] * defined["n_new"]).sum() / total), len(defined), ""


def _mean(column: pd.Series[Any], reason: str) -> tuple[float | None, int, str]:
    defined = column.dropna()
    return (float(defined.mean()), len(defined), "") if len(defined) else (None, 0, reason)


def _first(reasons: Iterable[Any]) -> str:
    return next((str(reason) for reason in reasons if reason), "")
