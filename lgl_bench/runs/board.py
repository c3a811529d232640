"""From year rows to leaderboard rows: mean over years and folds, then over seeds, with intervals.

Accuracy is the mean over years. AUROC over years comes three ways: `auroc_weighted` by the number of new vertices,
which ranks; `auroc_mean` over years with at least five new vertices; `auroc_paper` over every year that has one, the
validation year included. The others are means over the years that have a value. Scores of different years are never
pooled: they come from different models.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import scipy.stats

from lgl_bench.metrics.over_time import area_over_time

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
    "open_f1",
    "class_macro_f1",
    "ece",
    "prevalence",
    "aupr_known",
    "fpr95_known",
    "rejected_share",
    "auroc_area",
    "accuracy_area",
)
FEWEST_NEW = 5
FEWEST_SEEDS = 3


KEYS = (
    "stream",
    "protocol",
    "split",
    "history",
    "restart",
    "label_delay",
    "track",
    "backbone",
    "head",
    "detector",
    "threshold",
    "preset",
)


def leaderboard(years: pd.DataFrame, about: dict[str, Any], checksums: dict[str, str]) -> pd.DataFrame:
    """One row a method and stream, best first within each stream.

    Args:
        years: Year rows.
        about: What is the same for all rows: suite, version, budget, select, and where they come from.
        checksums: Of the streams.
    """
    rows = []
    for values, group in years.groupby(list(KEYS), sort=False) if len(years) else []:
        named = dict(zip(KEYS, values, strict=True))
        rows.append(_row(named, group, about, checksums))
    frame = pd.DataFrame(rows)
    if len(frame):
        frame = frame.sort_values(
            ["stream", "split", "threshold", "auroc_weighted_mean"], ascending=[True, True, True, False], kind="stable"
        )
    return frame.reset_index(drop=True)


def _row(
    named: dict[str, Any], group: pd.DataFrame, about: dict[str, Any], checksums: dict[str, str]
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "suite": about["suite"],
        "suite_version": about["suite_version"],
        "stream": named["stream"],
        "stream_checksum": checksums[named["stream"]],
        **{key: named[key] for key in KEYS[1:]},
        "budget": about["budget"],
        "select": about["select"],
    }
    seeds = [seed_values(part) for _, part in group[group["status"] == "ok"].groupby("seed")]
    failed = _first(group[group["status"] != "ok"]["reason"]) or "no seed finished"
    for metric in METRICS:
        parts = [seed[metric] for seed in seeds] or [(None, 0, failed)]
        values, counts, reasons = zip(*parts, strict=True)
        row |= {f"{metric}_{key}": value for key, value in summary(values, reasons, counts).items()}
    count = max(group["seed"].nunique(), 1)
    row["n_new"] = int(group["n_new"].fillna(0).sum() / count) if "n_new" in group else 0
    row["fit_seconds"] = float(group["fit_seconds"].fillna(0).sum())
    row["peak_memory_mb"] = float(group["peak_memory_mb"].fillna(0).max())
    row["tuning_trials"] = int(group["tuning_trials"].max())
    row["chosen"] = _chosen(group[group["seed"] == group["seed"].min()])
    row |= {"trust": "self-reported", "submitter": ""}
    return row | {**about["provenance"], "device": str(group["device"].iloc[0])}


def _chosen(group: pd.DataFrame) -> str:
    """What was chosen: once where it is the same throughout, otherwise with the years or folds it was chosen for."""
    if group["chosen"].nunique() == 1:
        return str(group["chosen"].iloc[0])
    names = [str(fold or time) for time, fold in zip(group["time"], group["fold"], strict=True)]
    parts = []
    for expression, members in groupby(zip(names, group["chosen"], strict=True), key=lambda pair: pair[1]):
        first, *rest = [name for name, _ in members]
        parts.append(f"{first}-{rest[-1]}: {expression}" if rest else f"{first}: {expression}")
    return "; ".join(parts)


def seed_values(years: pd.DataFrame) -> dict[str, tuple[float | None, int, str]]:
    """Every metric of one seed: value, number of years or folds behind it, reason where there is none."""
    test = years[years["role"] == "test"]
    found = {
        "auroc_weighted": _weighted(test),
        "auroc_mean": _mean(test[test["n_new"] >= FEWEST_NEW]["auroc"], f"no year with {FEWEST_NEW} new vertices"),
        "auroc_paper": _mean(years["auroc"], "no year with new vertices"),
        "auroc_area": _area(test, "auroc"),
        "accuracy_area": _area(test, "accuracy"),
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


def _area(test: pd.DataFrame, metric: str) -> tuple[float | None, int, str]:
    if test["time"].nunique() < len(test):
        return None, 0, "tasks are folds, not years"
    return tuple(area_over_time(test["time"].to_numpy(), test[metric].to_numpy(dtype=float)))  # type: ignore[return-value]


def _mean(column: pd.Series[Any], reason: str) -> tuple[float | None, int, str]:
    defined = column.dropna()
    return (float(defined.mean()), len(defined), "") if len(defined) else (None, 0, reason)


def _first(reasons: Iterable[Any]) -> str:
    return next((str(reason) for reason in reasons if reason), "")
