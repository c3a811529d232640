"""Methods over streams: mean ranks, and from six streams on who can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.matching import is_twin, shape
from lgl_bench.leaderboard.schema import COMPARABLE, ranks_by
from lgl_bench.leaderboard.stats.ranks import FEWEST_STREAMS, rank_over_streams, too_few
from lgl_bench.leaderboard.values import ranking_metrics, ranking_values

MOST_METHODS = 30
TWINS, REAL = "twins", "real streams"
GROUP = (*(name for name in COMPARABLE if name != "stream_checksum"), "kind")
"""What streams must agree in before methods are ranked over them; `kind` tells twins from real streams."""


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
        told = self.about
        parts = [told["suite"], told["split"], f"budget {told['budget']} {told['budget_version']}", told["kind"]]
        return ", ".join(map(str, [*parts, told["track"]]))


def over_streams(rows: pd.DataFrame) -> list[Streams]:
    """Groups streams that may be set beside each other: suites, splits, budgets, tracks, twins and others apart.

    Args:
        rows: Rows with the columns `GROUP` but `kind`, `stream`, `method` (its name) and `value` (higher is better, NaN
            where the row has no rank).
    """
    rows = rows[rows["value"].notna()]
    rows = rows.assign(
        kind=np.where(rows["stream"].map(is_twin).to_numpy(dtype=bool), TWINS, REAL),
        protocol=rows["protocol"].map(shape),  # a t0 belongs to its stream, as its checksum does
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

    A method is a backbone with the names of its detector and threshold: their parameters may differ from stream to
    stream, as presets do. A name under which a board has several rows on a stream is left out and listed.

    Args:
        pooled: Rows with a column `board`, their position in `boards`.
        boards: Names; they tell methods apart where there are several.
        by: The metric; what ranks the rows without a threshold otherwise.
    """
    rows = pooled[pooled["trust"] != "printed"]
    if not by:
        rows = rows[rows["threshold"] == ""]
    names = ranking_metrics(rows) if by is None else np.full(len(rows), by, dtype=object)
    cells = zip(rows["backbone"], rows["detector"], rows["threshold"], rows["board"], strict=True)
    methods = [
        " ".join(filter(None, (backbone, shape(detector), shape(threshold), f"[{at + 1}]" if len(boards) > 1 else "")))
        for backbone, detector, threshold, at in cells
    ]
    found = []
    for one in over_streams(rows.assign(method=methods, value=ranking_values(rows, names))):
        about = {"metric": by or ranks_by(one.about["protocol"], ""), "streams": list(one.table.index)}
        found.append({**one.about, **about, "left_out": one.left_out, **_ranks(one.table)})
    return found


def _ranks(table: pd.DataFrame) -> dict[str, Any]:
    streams, methods = table.shape
    if methods > MOST_METHODS and streams >= FEWEST_STREAMS:
        # Holm over so many pairs leaves nothing to find; ranks are still worth seeing.
        reason = f"{methods} methods are too many to test pair by pair; at most {MOST_METHODS} are"
        ranks = table.rank(axis="columns", ascending=False).mean(axis="index").sort_values(kind="stable")
        return {"ranks": _listed(list(ranks.index), ranks.tolist()), "tested": False, "reason": reason}
    if not methods:
        return {"ranks": [], "tested": False, "reason": "no method has a value on every stream"}
    found = rank_over_streams(table.to_numpy(dtype=np.float64), [str(name) for name in table.columns])
    entry: dict[str, Any] = {"ranks": _listed(found.names, found.mean_ranks), "tested": not found.reason}
    if found.reason:
        return entry | {"reason": too_few(streams) if streams < FEWEST_STREAMS else found.reason}
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
