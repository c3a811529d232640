"""The critical-difference diagram: mean ranks over streams, and who cannot be told apart.

The statistics are those of `lgl-bench compare`: Wilcoxon's signed ranks over streams, pair by pair, adjusted by Holm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.across import MOST_METHODS
from lgl_bench.leaderboard.stats.ranks import FEWEST_STREAMS, Ranking, rank_over_streams, too_few
from lgl_bench.report.charts import Chart, svg
from lgl_bench.report.panel import Panel, Table
from lgl_bench.report.rows import Row
from lgl_bench.report.svg import Scale, tag, text

_WIDTH = 760.0


def values_over_streams(rows: Sequence[Row]) -> pd.DataFrame:
    """One row a stream and a column for every method that all streams have.

    A method has one value a stream: its best variant's, the mean over places of that stream.
    """
    usable = [row for row in rows if not row.threshold and row.rank is not None]
    cells = [
        (row.place.stream, row.place.label, f"{row.method[1]}, {row.backbone}", row.figures[row.ranks_by].mean)
        for row in usable
    ]
    frame = pd.DataFrame(cells, columns=["stream", "place", "method", "value"])
    best = frame.groupby(["stream", "place", "method"])["value"].max()
    return best.groupby(["stream", "method"]).mean().unstack("method").dropna(axis="columns")


def critical_panel(rows: Sequence[Row]) -> Panel:
    """The diagram, from six streams on."""
    title, name = "Critical differences", "critical"
    about = (
        "Mean rank over streams, 1 is best. Methods joined by a bar cannot be told apart (Wilcoxon's signed ranks over "
        "streams, Holm, 5 %)."
    )
    values = values_over_streams(rows)
    streams, methods = values.shape
    if streams < FEWEST_STREAMS:
        return Panel(name, title, about, empty=f"{too_few(streams)} to tell methods apart.")
    if methods < 2:
        return Panel(name, title, about, empty="fewer than two methods have a value on every stream.")
    if methods > MOST_METHODS:
        # As `compare` does: Holm over so many pairs leaves nothing to find.
        return Panel(
            name,
            title,
            about,
            empty=f"{methods} methods are too many to test pair by pair; at most {MOST_METHODS} are.",
        )
    ranking = rank_over_streams(values.to_numpy(dtype=np.float64), [str(method) for method in values.columns])
    table = Table(("method", "mean_rank"), list(zip(ranking.names, ranking.mean_ranks, strict=True)))
    return Panel(name, title, about, (_diagram(ranking),), table, wide=True)


def _diagram(ranking: Ranking) -> Chart:
    values = ranking.mean_ranks
    line = 22.0
    top = 56.0 + 9 * len(ranking.bars)
    height = top + line * math.ceil(len(values) / 2) + 14
    low, high = 1.0, max(values[-1], 2.0)
    at = Scale(low, high, 230, _WIDTH - 230)
    parts = [
        tag("title", text("Critical differences")),
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
    return Chart("Critical differences", svg(_WIDTH, height, *parts, css="chart wide"))
