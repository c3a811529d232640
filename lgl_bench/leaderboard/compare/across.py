"""Methods over streams: mean ranks, and from six streams on who can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import without_values
from lgl_bench.leaderboard.compare.matching import original_of_twin
from lgl_bench.leaderboard.stats.ranks import MIN_STREAMS, rank_over_streams, too_few
from lgl_bench.leaderboard.strategy_names import differ_in_strategy, shown_strategy
from lgl_bench.leaderboard.table.names import PRINTED, Fact
from lgl_bench.leaderboard.table.schema import COMPARABLE
from lgl_bench.leaderboard.values import ranking_metrics, ranking_values
from lgl_bench.metrics.ranks import ranks_by

MAX_METHODS = 30
TWINS, REAL = "twins", "real streams"
GROUP = (*(name for name in COMPARABLE if name != "stream_checksum"), "kind")
"""What streams must agree in before methods are ranked over them; `kind` distinguishes twins from real streams."""


class Streams(NamedTuple):
    """Streams over which methods may be ranked.

    Attributes:
        about: What they agree in, by the names of `GROUP`.
        table: One row per stream, one column per method that every stream has, higher is better.
        left_out: Methods of which a stream has several variants: to choose one by its result would be to choose it on
            the test.
    """

    about: dict[str, Any]
    table: pd.DataFrame
    left_out: list[str]

    @property
    def label(self) -> str:
        """In words."""
        about = self.about
        parts = [about["suite"], about["split"], f"budget {about['budget']} {about['budget_version']}", about["kind"]]
        return ", ".join(map(str, [*parts, about["track"]]))


def over_streams(rows: pd.DataFrame) -> list[Streams]:
    """Groups streams that may be set beside each other: suites, splits, budgets, tracks, twins and others apart.

    Args:
        rows: Rows with the columns `GROUP` but `kind`, `stream`, `method` (its name) and `value` (higher is better, NaN
            if the row has no rank).
    """
    rows = rows[rows["value"].notna()]
    rows = rows.assign(
        kind=np.where(rows["stream"].map(original_of_twin) != "", TWINS, REAL),
        protocol=rows["protocol"].map(without_values),  # a t0 belongs to its stream, as its checksum does
    )
    found = []
    for key, part in rows.groupby(list(GROUP), sort=True):
        again = part.duplicated(["stream", "method"], keep=False)
        once = part[~part["method"].isin(part.loc[again, "method"])]
        # A stream on which no method is left counts as one on which none has a value.
        table = once.pivot(index="stream", columns="method", values="value").reindex(sorted(set(part["stream"])))
        left_out = sorted(set(part.loc[again, "method"]))
        found.append(Streams(dict(zip(GROUP, key, strict=True)), table.dropna(axis="columns"), left_out))
    return found


def across_streams(pooled: pd.DataFrame, boards: Sequence[str], by: str | None = None) -> list[dict[str, Any]]:
    """One entry per group of comparable streams: mean ranks of the methods that every stream of the group has.

    A method is a backbone with the names of its detector and threshold, and a strategy if rows differ in it: parameters
    of detectors may differ from stream to stream, as presets do. A name under which a board has several rows on a
    stream is left out and listed.

    Args:
        pooled: Rows with a column `board`, their position in `boards`.
        boards: Names; they distinguish methods if there are several.
        by: The metric; what ranks the rows without a threshold otherwise.
    """
    rows = pooled[pooled[Fact.TRUST] != PRINTED]
    if not by:
        rows = rows[rows["threshold"] == ""]
    names = ranking_metrics(rows, by)
    parts = [rows["backbone"], rows["detector"].map(without_values), rows["threshold"].map(without_values)]
    if differ_in_strategy(rows):
        parts.insert(0, rows["strategy"].map(shown_strategy))
    if len(boards) > 1:
        parts.append((rows["board"] + 1).map("[{}]".format))
    methods = [" ".join(filter(None, cells)) for cells in zip(*parts, strict=True)]
    found = []
    for one in over_streams(rows.assign(method=methods, value=ranking_values(rows, names))):
        about = {"metric": by or ranks_by(one.about["protocol"], ""), "streams": list(one.table.index)}
        found.append({**one.about, **about, "left_out": one.left_out, **_ranks(one.table)})
    return found


def too_many(methods: int) -> str:
    """Why so many methods are not tested: Holm over their pairs leaves nothing to find; "" if they can be."""
    many = f"{methods} methods are too many to test pair by pair; at most {MAX_METHODS} are"
    return many if methods > MAX_METHODS else ""


def _ranks(table: pd.DataFrame) -> dict[str, Any]:
    streams, methods = table.shape
    reason = too_many(methods)
    if reason and streams >= MIN_STREAMS:
        # Ranks are still worth seeing.
        ranks = table.rank(axis="columns", ascending=False).mean(axis="index").sort_values(kind="stable")
        return {"ranks": _listed(list(ranks.index), ranks.tolist()), "tested": False, "reason": reason}
    if not methods:
        return {"ranks": [], "tested": False, "reason": "no method has a value on every stream"}
    found = rank_over_streams(table.to_numpy(dtype=np.float64), [str(name) for name in table.columns])
    entry: dict[str, Any] = {"ranks": _listed(found.names, found.mean_ranks), "tested": not found.reason}
    if found.reason:
        return entry | {"reason": too_few(streams) if streams < MIN_STREAMS else found.reason}
    return entry | {
        "reason": "",
        "friedman_p": found.friedman_p,
        "wilcoxon": [
            {"methods": [found.names[i], found.names[j]], "p_holm": p} for (i, j), p in sorted(found.pairs.items())
        ],
        "bars": [[found.names[i] for i in range(first, last + 1)] for first, last in found.bars],
    }


def _listed(names: Sequence[str], ranks: Sequence[float]) -> list[dict[str, Any]]:
    return [{"method": name, "mean_rank": float(rank)} for name, rank in zip(names, ranks, strict=True)]
