"""The critical-difference diagram: mean ranks over streams, and who cannot be told apart.

The statistics are those of `lgl-bench compare`: Wilcoxon's signed ranks over streams, pair by pair, adjusted by Holm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.compare.across import Streams, over_streams, too_many
from lgl_bench.leaderboard.stats.ranks import MIN_STREAMS, Ranking, rank_over_streams, too_few
from lgl_bench.leaderboard.table.schema import PLACE
from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart, svg
from lgl_bench.report.svg.elements import Scale, tag, text

_WIDTH = 760.0


def critical_panel(rows: Sequence[ShownRow]) -> Panel:
    """One diagram per group of streams that may be set beside each other, from six streams on."""
    title, name = "Critical differences", "critical"
    about = (
        "Mean rank over streams, 1 is best. Methods joined by a bar cannot be told apart (Wilcoxon's signed ranks over "
        "streams, Holm, 5 %). Suites, splits, tracks, budgets and their versions, twins and real streams are never "
        "pooled. A method of which a stream has several variants is left out: the best of them would be chosen on the "
        "test."
    )
    found = over_streams(_values(rows)) if rows else []
    charts: list[Chart] = []
    table: list[tuple[object, ...]] = []
    reasons: list[str] = []
    for one in found:
        skip_reason = _skip_reason(one)
        if skip_reason:
            reasons.append(f"{one.label}: {skip_reason}.")
            continue
        methods = [str(method) for method in one.table.columns]
        ranking = rank_over_streams(one.table.to_numpy(dtype=np.float64), methods)
        charts.append(_diagram(ranking, one.label))
        table += [(one.label, *cells) for cells in zip(ranking.names, ranking.mean_ranks, strict=True)]
        if one.left_out:
            reasons.append(f"{one.label}: left out for their variants: {', '.join(one.left_out)}.")
    if not charts:
        return Panel(name, title, about, empty=" ".join(reasons) or f"{too_few(0)}.")
    columns = ("streams", "method", "mean_rank")
    return Panel(name, title, " ".join([about, *reasons]), tuple(charts), Table(columns, table), wide=True)


def _values(rows: Sequence[ShownRow]) -> pd.DataFrame:
    cells = [
        {
            **dict(zip(PLACE, row.place.values, strict=True)),
            "method": row.name,
            "value": np.nan if row.rank is None else row.figures[row.ranks_by].mean,
        }
        for row in rows
        if not row.threshold
    ]
    return pd.DataFrame(cells, columns=[*PLACE, "method", "value"])


def _skip_reason(one: Streams) -> str:
    """Why there is nothing to test; "" if there is something."""
    streams, methods = one.table.shape
    left_out = f"; left out for their variants: {', '.join(one.left_out)}" if one.left_out else ""
    if streams < MIN_STREAMS:
        return too_few(streams)
    if methods < 2:
        return f"fewer than two methods have one value on every stream{left_out}"
    return too_many(methods)


def _diagram(ranking: Ranking, label: str) -> Chart:
    values = ranking.mean_ranks
    line = 22.0
    top = 56.0 + 9 * len(ranking.bars)
    height = top + line * math.ceil(len(values) / 2) + 14
    low, high = 1.0, max(values[-1], 2.0)
    at = Scale(low, high, 230, _WIDTH - 230)
    parts = [
        tag("title", text(f"Critical differences: {label}")),
        tag("desc", text(f"Mean ranks over {ranking.streams} streams.")),
    ]
    parts.append(tag("line", x1=at(low), x2=at(high), y1=46, y2=46, class_="axis"))
    parts += [
        tag(
            "text", text(f"{low + (high - low) * i / 4:.1f}"), x=at(low + (high - low) * i / 4), y=36, class_="tick mid"
        )
        for i in range(5)
    ]
    half = math.ceil(len(values) / 2)
    for place, (name, rank) in enumerate(zip(ranking.names, values, strict=True)):
        left = place < half
        y = top + line * (place if left else len(values) - 1 - place) + 10
        end = 220.0 if left else _WIDTH - 220
        parts.append(tag("path", d=f"M{at(rank):.1f} 46V{y:.1f}H{end:.1f}", class_="lead"))
        shown = name if len(name) <= 28 else name[:27] + "…"
        parts.append(
            tag(
                "text",
                tag("title", text(f"{name}: mean rank {rank:.2f}")),
                text(f"{shown} ({rank:.2f})"),
                x=end - 6 if left else end + 6,
                y=y + 4,
                class_="tick end" if left else "tick",
            )
        )
    for row, (first, last) in enumerate(ranking.bars):
        y = 54 + 9 * row
        parts.append(tag("line", x1=at(values[first]) - 4, x2=at(values[last]) + 4, y1=y, y2=y, class_="line cd"))
    return Chart(label, svg(_WIDTH, height, *parts, css="chart wide"))
