"""Cost against quality, with the Pareto front: rows that nothing beats in both."""

from __future__ import annotations

from collections.abc import Sequence

from lgl_bench.leaderboard.table.names import Fact
from lgl_bench.report.data.rows import Place, ShownRow
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart, Dot, Series, chart
from lgl_bench.report.svg.frame import Axes


def pareto(points: Sequence[tuple[float, float]]) -> list[int]:
    """Positions of the points (cost, quality) that no other beats in one without losing in the other, by cost.

    >>> pareto([(1, 0.5), (2, 0.4), (3, 0.9), (3, 0.8)])
    [0, 2]
    """
    front: list[int] = []
    best = float("-inf")
    for at in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        if points[at][1] > best:
            front.append(at)
            best = points[at][1]
    return front


def cost_panel(rows: Sequence[ShownRow]) -> Panel:
    """One chart per place: seconds of fitting against AUROC."""
    title, name = "Cost against quality", "cost"
    about = (
        "Seconds of fitting, all years and seeds together, against AUROC. Rows on the staircase are worth their cost: "
        "nothing is both cheaper and better. Detectors that share a fit share its cost."
    )
    charts, table = [], []
    for place in dict.fromkeys(row.place for row in rows):
        here = [row for row in rows if row.place == place and not row.threshold and row.rank is not None]
        here = [row for row in here if row.fit_seconds]
        if not here:
            continue
        points = [(row.fit_seconds or 0.0, row.figures[row.ranks_by].mean or 0.0) for row in here]
        front = pareto(points)
        charts.append(_chart(here, points, front, place))
        table += [
            (place.label, row.strategy, row.backbone, row.detector, *points[at], row.peak_memory_mb, at in front)
            for at, row in enumerate(here)
        ]
    if not charts:
        return Panel(name, title, about, empty="No row has both a cost and an AUROC.")
    columns = ("place", "strategy", "backbone", "detector", Fact.FIT_SECONDS, "auroc", Fact.PEAK_MEMORY_MB, "on_front")
    return Panel(name, title, about, tuple(charts), Table(columns, table))


def _chart(rows: Sequence[ShownRow], points: Sequence[tuple[float, float]], front: list[int], place: Place) -> Chart:
    def dot(at: int, label: str = "") -> Dot:
        row = rows[at]
        return Dot(*points[at], f"{row.name}: {points[at][0]:.1f} s, AUROC {points[at][1]:.3f}", label=label)

    rest = Series("other rows", [dot(at) for at in range(len(rows)) if at not in front], 6, "dots")
    best = Series("Pareto front", [dot(at, rows[at].name) for at in front], 1, "steps")
    described = f"{len(front)} of {len(rows)} rows on {place.label} lie on the front."
    axes = Axes("seconds of fitting", "AUROC", y_end=1.0, log_x=True)
    return chart(place.title, described, [rest, best], axes, twin=place.twin)
