"""The critical-difference diagram: mean ranks over streams, and who cannot be told apart (Demsar 2006).

Two methods differ where their mean ranks are further apart than Nemenyi's CD = q * sqrt(k (k + 1) / (6 N)), for k
methods on N streams and q the 95 % point of the studentised range over sqrt(2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.stats

from lgl_bench.report.charts import Chart, svg
from lgl_bench.report.metrics import RANKS
from lgl_bench.report.panel import Panel, Table
from lgl_bench.report.rows import Row
from lgl_bench.report.svg import Scale, tag, text

FEWEST_STREAMS = 6
SHOWN = 16
_WIDTH = 760.0


def critical_difference(methods: int, streams: int) -> float:
    """Nemenyi's CD at 5 %.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = float(scipy.stats.studentized_range.ppf(0.95, methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(methods * (methods + 1) / (6 * streams))


def mean_ranks(rows: Sequence[Row]) -> tuple[pd.Series[float], int]:
    """Mean rank of every method that all streams have, best first, and the number of streams.

    A method has one value a stream: its best variant's, the mean over places of that stream.
    """
    usable = [row for row in rows if not row.threshold and row.rank is not None]
    cells = [
        (row.place.stream, row.place.label, f"{row.method[1]}, {row.backbone}", row.figures[RANKS].mean)
        for row in usable
    ]
    frame = pd.DataFrame(cells, columns=["stream", "place", "method", "value"])
    best = frame.groupby(["stream", "place", "method"])["value"].max()
    table = best.groupby(["stream", "method"]).mean().unstack("method")
    whole = table.dropna(axis="columns")
    return whole.rank(axis="columns", ascending=False).mean().sort_values(kind="stable"), len(table)


def critical_panel(rows: Sequence[Row]) -> Panel:
    """The diagram, from six streams on."""
    title, name = "Critical differences", "critical"
    about = (
        "Mean rank over streams, 1 is best. Methods joined by a bar cannot be told apart: their ranks are closer than "
        "the critical difference."
    )
    ranks, streams = mean_ranks(rows)
    if streams < FEWEST_STREAMS:
        said = f"too few streams: {streams} here, and below {FEWEST_STREAMS} nothing can be told apart over streams."
        return Panel(name, title, about, empty=said)
    if len(ranks) < 2:
        return Panel(name, title, about, empty="fewer than two methods have a value on every stream.")
    reach = critical_difference(len(ranks), streams)
    table = Table(("method", "mean_rank"), list(zip(ranks.index, ranks.tolist(), strict=True)))
    if len(ranks) > SHOWN:
        about += f" Shown are the {SHOWN} best of {len(ranks)} methods; the difference takes all into account."
    return Panel(name, title, about, (_diagram(ranks.head(SHOWN), reach, streams),), table, wide=True)


def bars(ranks: Sequence[float], reach: float) -> list[tuple[int, int]]:
    """Runs of positions, first and last, no longer than the difference and within no other run.

    >>> bars([1.0, 1.5, 3.0, 3.2], 1.0)
    [(0, 1), (2, 3)]
    """
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(at for at in range(first, len(ranks)) if ranks[at] - ranks[first] <= reach)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def _diagram(ranks: pd.Series[float], reach: float, streams: int) -> Chart:
    values = ranks.tolist()
    joined = bars(values, reach)
    line = 22.0
    top = 56.0 + 9 * len(joined)
    height = top + line * math.ceil(len(values) / 2) + 14
    low, high = 1.0, max(values[-1], values[0] + reach)
    at = Scale(low, high, 230, _WIDTH - 230)
    parts = [tag("title", text("Critical differences")), tag("desc", text(f"Mean ranks over {streams} streams."))]
    parts.append(tag("line", x1=at(low), x2=at(high), y1=46, y2=46, class_="axis"))
    parts += [
        tag(
            "text", text(f"{low + (high - low) * i / 4:.1f}"), x=at(low + (high - low) * i / 4), y=36, class_="tick mid"
        )
        for i in range(5)
    ]
    parts.append(tag("line", x1=at(low), x2=at(low + reach), y1=12, y2=12, class_="line cd"))
    parts.append(tag("text", text(f"critical difference {reach:.2f}"), x=at(low + reach) + 8, y=16, class_="name"))
    half = math.ceil(len(values) / 2)
    for place, (name, rank) in enumerate(ranks.items()):
        left = place < half
        y = top + line * (place if left else len(values) - 1 - place) + 10
        end = 220.0 if left else _WIDTH - 220
        parts.append(tag("path", d=f"M{at(rank):.1f} 46V{y:.1f}H{end:.1f}", class_="lead"))
        shown = str(name) if len(str(name)) <= 28 else str(name)[:27] + "…"
        said = tag("title", text(f"{name}: mean rank {rank:.2f}"))
        parts.append(
            tag(
                "text",
                said,
                text(f"{shown} ({rank:.2f})"),
                x=end - 6 if left else end + 6,
                y=y + 4,
                class_="tick end" if left else "tick",
            )
        )
    for row, (first, last) in enumerate(joined):
        y = 54 + 9 * row
        parts.append(tag("line", x1=at(values[first]) - 4, x2=at(values[last]) + 4, y1=y, y2=y, class_="line cd"))
    return Chart("Critical differences", svg(_WIDTH, height, *parts, css="chart wide"))
