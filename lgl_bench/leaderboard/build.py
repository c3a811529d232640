"""From the year rows of a run to leaderboard rows: mean over seeds, deviation, and an interval.

The interval is that of the bootstrap over seeds and vertices if one was drawn (`intervals.py`), else Student's over
seeds. It is cut to the range of the metric.

Everything is counted column by column: a hundred thousand year rows take a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from lgl_bench.core.types import FloatArray, IntArray
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.aggregate import SeedValues, seed_values
from lgl_bench.leaderboard.failures import failures
from lgl_bench.leaderboard.stats.resampled import shared_part
from lgl_bench.leaderboard.stats.student import interval
from lgl_bench.leaderboard.table.names import Fact, Suffix, metric_column
from lgl_bench.leaderboard.table.write import canonical
from lgl_bench.leaderboard.values import ranking_values
from lgl_bench.metrics import metrics
from lgl_bench.metrics.ranks import ranks_by

Intervals: TypeAlias = Mapping[tuple[str, ...], Mapping[str, tuple[float, float]]]
"""Ends of drawn intervals: per method, by its cells `KEY` as text, and per metric."""
NOTHING_DRAWN: Intervals = MappingProxyType({})


def board_rows(
    years: pd.DataFrame, provenance: Mapping[str, str] = MappingProxyType({}), drawn: Intervals = NOTHING_DRAWN
) -> pd.DataFrame:
    """One row per method and stream, best first within each stream.

    Args:
        years: One row per year or fold, method and seed, as `OUT/years.parquet` holds them.
        provenance: When and with what they were made.
        drawn: Intervals of the bootstrap.
    """
    if not len(years):
        return canonical(pd.DataFrame(columns=["stream"]))
    found = seed_values(years)
    named = found.methods.astype(object)
    count = len(named)
    parts: dict[str, Any] = {key: named[key] for key in KEY}
    for metric in found.values:
        figures = summary(found, metric, drawn)
        parts |= {metric_column(metric, suffix): values for suffix, values in figures.items()}
    parts[Fact.INTERVAL] = _kinds(named, parts, drawn)
    parts |= failures(years, found.methods, found.row_method)
    parts |= _spent(years, found.row_method, count)
    parts |= {Fact.TRUST: ["self-reported"] * count, Fact.SUBMITTER: [""] * count}
    parts |= {key: [value] * count for key, value in provenance.items()}
    frame = canonical(pd.DataFrame({key: np.asarray(value, dtype=object) for key, value in parts.items()}))
    order = ["stream", "split", "threshold", "_value"]
    frame = frame.assign(_value=ranking_values(frame))
    frame = frame.sort_values(order, ascending=[True, True, True, False], kind="stable", ignore_index=True)
    return frame.drop(columns="_value")


def summary(found: SeedValues, metric: str, drawn: Intervals = NOTHING_DRAWN) -> dict[Suffix, Any]:
    """The seven figures of a metric, one entry per method."""
    size = len(found.methods)
    values, there = found.values[metric], ~np.isnan(found.values[metric])
    method, numbers = found.method[there], values[there]
    seeds = np.bincount(method, minlength=size)
    mean = np.bincount(method, weights=numbers, minlength=size) / np.maximum(seeds, 1)
    mean = np.where(seeds > 0, mean, np.nan)
    squares = np.bincount(method, weights=(numbers - mean[method]) ** 2, minlength=size)
    std = np.where(seeds > 1, np.sqrt(squares / np.maximum(seeds - 1, 1)), np.nan)
    lo, hi = _interval(found.methods, metric, mean, std, seeds, drawn)
    years = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(years, method, found.years[metric][there])
    years = np.where(seeds > 0, years, 0)
    reason = np.where(seeds > 0, "", found.reasons[metric])
    return {"mean": mean, "std": std, "lo": lo, "hi": hi, "n_seeds": seeds, "n_years": years, "reason": reason}


def _interval(
    methods: pd.DataFrame, metric: str, mean: FloatArray, std: FloatArray, seeds: IntArray, drawn: Intervals
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval, one pair per method: drawn, else Student's; within the metric's range, around the mean."""
    shared = methods["split"].map(shared_part).to_numpy(dtype=np.float64)
    lo, hi = interval(mean, std, seeds, shared)
    for number, ends in enumerate(_drawn(methods, metric, drawn)):
        if ends is not None:
            lo[number], hi[number] = ends
    low, high = metrics.described(metric).range
    if low is not None or high is not None:
        lo, hi = np.clip(lo, low, high), np.clip(hi, low, high)
    return np.minimum(lo, mean), np.maximum(hi, mean)


def _drawn(methods: pd.DataFrame, metric: str, drawn: Intervals) -> list[tuple[float, float] | None]:
    if not drawn:
        return []
    cells = methods[list(KEY)].astype(str).itertuples(index=False, name=None)
    return [drawn.get(cell, {}).get(metric) for cell in cells]


def _kinds(methods: pd.DataFrame, parts: Mapping[str, Any], drawn: Intervals) -> list[str]:
    """What the interval of the ranking metric of each method is."""
    found = []
    cells = methods[list(KEY)].astype(str).itertuples(index=False, name=None)
    ranking = [ranks_by(*cell) for cell in zip(methods["protocol"], methods["threshold"], strict=True)]
    for number, (cell, metric) in enumerate(zip(cells, ranking, strict=True)):
        there = not np.isnan(parts[metric_column(metric, "lo")][number])
        found.append("" if not there else "bootstrap" if metric in drawn.get(cell, {}) else "student")
    return found


def _spent(years: pd.DataFrame, method: IntArray, count: int) -> dict[str, Any]:
    """New vertices per seed, seconds and memory, and what was chosen, one entry per method."""
    new = years["n_new"].fillna(0).to_numpy(dtype=np.float64) if "n_new" in years else np.zeros(len(years))
    test = ((years["role"] == "test") & (years["status"] == "ok")).to_numpy(dtype=bool)
    pairs = pd.DataFrame({"method": method[test], "seed": years["seed"].to_numpy()[test]}).drop_duplicates()
    seeds = np.bincount(pairs["method"], minlength=count)
    seconds = np.bincount(method, weights=years["fit_seconds"].fillna(0).to_numpy(dtype=np.float64), minlength=count)
    most = {
        name: _most(years, name, method, count) for name in (Fact.PEAK_MEMORY_MB, Fact.MEMORY_VERTICES, Fact.MEMORY_MB)
    }
    first = np.full(count, -1, dtype=np.int64)
    first[method[::-1]] = np.arange(len(years))[::-1]
    trials = years["tuning_trials"].to_numpy(dtype=np.int64)[first] if "tuning_trials" in years else [0] * count
    device = years["device"].to_numpy(dtype=object)[first] if "device" in years else ["cpu"] * count
    kernels = years["kernels"].fillna("").to_numpy(dtype=object)[first] if "kernels" in years else [""] * count
    total = np.bincount(method[test], weights=new[test], minlength=count)
    return {
        Fact.N_NEW: (total / np.maximum(seeds, 1)).astype(np.int64),
        Fact.FIT_SECONDS: seconds,
        Fact.PEAK_MEMORY_MB: np.nan_to_num(most[Fact.PEAK_MEMORY_MB]),
        Fact.MEMORY_VERTICES: [None if np.isnan(one) else int(one) for one in most[Fact.MEMORY_VERTICES]],
        Fact.MEMORY_MB: most[Fact.MEMORY_MB],
        Fact.KERNELS: kernels,
        Fact.CHOSEN: _chosen(years, method, count),
        Fact.TUNING_TRIALS: trials,
        Fact.DEVICE: device,
    }


def _most(years: pd.DataFrame, column: str, method: IntArray, count: int) -> FloatArray:
    """The largest entry of a column per method; NaN if there is none."""
    found = np.full(count, np.nan)
    if column in years:
        np.fmax.at(found, method, years[column].to_numpy(dtype=np.float64))
    return found


def _chosen(years: pd.DataFrame, method: IntArray, count: int) -> list[str]:
    """What was chosen: once if it is the same throughout, otherwise with the years or folds it was chosen for."""
    found = [""] * count
    if "chosen" not in years:
        return found
    chosen = years["chosen"].fillna("").astype(str).to_numpy(dtype=object)
    if "chosen_by" in years:
        chosen = chosen + np.where((years["chosen_by"] == "preset") & (chosen != ""), " (preset)", "")
    rows = np.flatnonzero((chosen != "") & (years["seed"] == years["seed"].min()).to_numpy(dtype=bool))
    names = [str(fold or time) for time, fold in zip(years["time"].iloc[rows], years["fold"].iloc[rows], strict=True)]
    parts: dict[int, list[tuple[str, str]]] = {}
    for row, name in zip(rows, names, strict=True):
        parts.setdefault(int(method[row]), []).append((name, chosen[row]))
    for code, pairs in parts.items():
        if len({expression for _, expression in pairs}) == 1:
            found[code] = pairs[0][1]
            continue
        spans = []
        for expression, members in groupby(pairs, key=lambda pair: pair[1]):
            start, *rest = [name for name, _ in members]
            spans.append(f"{start}-{rest[-1]}: {expression}" if rest else f"{start}: {expression}")
        found[code] = "; ".join(spans)
    return found
