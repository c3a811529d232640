"""Methods over streams: mean ranks, and from six streams on who can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.matching import shape
from lgl_bench.leaderboard.schema import COMPARABLE, metric, ranks_by
from lgl_bench.leaderboard.stats.ranks import FEWEST_STREAMS, rank_over_streams, too_few

MOST_METHODS = 30
_GROUP = [name for name in COMPARABLE if name != "stream_checksum"]


def across_streams(pooled: pd.DataFrame, boards: Sequence[str], by: str | None = None) -> list[dict[str, Any]]:
    """One entry a group of comparable streams: mean ranks of the methods that every stream of the group has.

    A method is a backbone with the names of its detector and threshold: their parameters may differ from stream to
    stream, as presets do. Where a board has several rows under one such name, the name is left out.

    Args:
        pooled: Rows with a column `board`, their position in `boards`.
        boards: Names; they tell methods apart where there are several.
        by: The metric; what ranks the rows without a threshold otherwise.
    """
    rows = pooled[pooled["trust"] != "printed"]
    if not by:
        rows = rows[rows["threshold"] == ""]
    cells = zip(rows["backbone"], rows["detector"], rows["threshold"], rows["board"], strict=True)
    names = [
        " ".join(filter(None, (backbone, shape(detector), shape(threshold), f"[{at + 1}]" if len(boards) > 1 else "")))
        for backbone, detector, threshold, at in cells
    ]
    rows = rows.assign(method=names)
    found = []
    for key, part in rows.groupby(_GROUP, sort=True):
        name = by or ranks_by(str(part["protocol"].iloc[0]), "")
        sign = 1.0 if metric(name).higher_is_better else -1.0
        part = part.assign(value=sign * part[f"{name}_mean"])[part[f"{name}_mean"].notna()]
        if part.empty:
            continue
        once = part[~part.duplicated(["stream", "method"], keep=False)]
        table = once.pivot(index="stream", columns="method", values="value")
        whole = table.dropna(axis="columns")
        # A name that not every stream has is no method of the group.
        entry: dict[str, Any] = {**dict(zip(_GROUP, key, strict=True)), "metric": name, "streams": list(table.index)}
        found.append(entry | _ranks(whole))
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
