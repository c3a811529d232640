r"""Methods x streams in LaTeX: mean and deviation of the metric that ranks, the best in bold, others marked.

Needs `\usepackage{booktabs}`. Detectors and decisions are ranked by different metrics, and have a table each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import without_values
from lgl_bench.leaderboard.compare.standing import INCONCLUSIVE, TIE, word_of
from lgl_bench.leaderboard.strategy_names import differ_in_strategy, shown_strategy
from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.leaderboard.text_tables import escape
from lgl_bench.leaderboard.values import direction, ranking_metrics

_MARKS = {TIE: r"$^{\sim}$", INCONCLUSIVE: "$^{?}$"}
_NOTE = (
    r"% mean \pm standard deviation over seeds; bold: the best of its stream; \sim tie: not told apart from the best; "
    "? inconclusive: more seeds would tell; -- not run or undefined."
)
_COLUMN = ("suite", "split", "budget", "track", "label_delay", "suite_version", "budget_version")


def latex_pivot(frame: pd.DataFrame, by: str | None = None) -> str:
    """Ranked rows as one table for those without a threshold, and one for those with one.

    Args:
        frame: Rows as `ranking.ranked` returns them.
        by: The metric; by default the one that ranks.
    """
    frame = frame.assign(_metric=ranking_metrics(frame, by))
    parts = [part for _, part in frame.groupby(frame["threshold"] != "", sort=True) if len(part)]
    return "\n".join(map(_table, parts))


def _table(frame: pd.DataFrame) -> str:
    names, columns = _methods(frame), _columns(frame)
    cells: dict[tuple[str, int], Mapping[Any, Any]] = {}
    for name, row in zip(names, frame.to_dict("records"), strict=True):
        cells.setdefault((name, row["group"]), row)
    best = {group: max((_value(row) for (_, at), row in cells.items() if at == group)) for group in columns}
    methods = sorted(dict.fromkeys(names), key=lambda name: _mean_rank(name, cells))
    lines = [
        r"\begin{tabular}{l" + "r" * len(columns) + "}",
        r"\toprule",
        " & ".join(["method", *(escape(name) for name in columns.values())]) + r" \\",
        r"\midrule",
    ]
    for name in methods:
        shown = [_cell(cells.get((name, group)), best[group]) for group in columns]
        lines.append(" & ".join([escape(name), *shown]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", _NOTE]) + "\n"


def _columns(frame: pd.DataFrame) -> dict[int, str]:
    """The groups in the order of their streams, each with whatever distinguishes it from others of its stream."""
    first = frame.drop_duplicates("group").sort_values(["stream", "group"], kind="stable")
    found = {}
    for _, row in first.iterrows():
        rivals = first[first["stream"] == row["stream"]]
        more = [str(row[name]) for name in _COLUMN if rivals[name].nunique() > 1]
        found[int(row["group"])] = ", ".join([row["stream"], *more])
    return found


def _methods(frame: pd.DataFrame) -> list[str]:
    """Short names; with all parameters where two rows of a group would share one."""
    strategies = differ_in_strategy(frame)

    def name(row: Mapping[Any, Any], full: bool) -> str:
        short = (lambda text: text) if full else without_values
        parts = [short(row["detector"]), short(row["threshold"]), row["backbone"] if full else short(row["backbone"])]
        return ", ".join(filter(None, [*parts, shown_strategy(row["strategy"]) if strategies else ""]))

    records = frame.to_dict("records")
    shorts = [name(row, False) for row in records]
    keys = [(short, row["group"]) for short, row in zip(shorts, records, strict=True)]
    shared = {short for short, group in keys if keys.count((short, group)) > 1}
    return [name(row, True) if short in shared else short for short, row in zip(shorts, records, strict=True)]


def _value(row: Mapping[Any, Any]) -> float:
    """What is compared, higher is better; what has no rank is never the best."""
    mean = row[metric_column(row["_metric"], "mean")]
    return -np.inf if pd.isna(mean) or pd.isna(row["rank"]) else direction(row["_metric"]) * mean


def _mean_rank(name: str, cells: Mapping[tuple[str, int], Mapping[Any, Any]]) -> tuple[float, str]:
    ranks = [row["rank"] for (method, _), row in cells.items() if method == name and not pd.isna(row["rank"])]
    return (float(np.mean(ranks)) if ranks else np.inf, name)


def _cell(row: Mapping[Any, Any] | None, best: float) -> str:
    mean = None if row is None else row[metric_column(row["_metric"], "mean")]
    if row is None or mean is None or pd.isna(mean):
        return "--"
    std = row[metric_column(row["_metric"], "std")]
    figure = f"{mean:.3f}" if pd.isna(std) else rf"{mean:.3f} \pm {std:.3f}"
    if _value(row) == best:
        return rf"$\mathbf{{{figure}}}$"
    return f"${figure}${_MARKS.get(word_of(row['standing']), '')}"
