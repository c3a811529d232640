"""The ranking as a figure: the best detectors of each stream with their intervals, and the floor."""

from __future__ import annotations

from collections.abc import Sequence

from lgl_bench.report.data.metrics import tooltip
from lgl_bench.report.data.rows import Place, ShownRow
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart, svg
from lgl_bench.report.svg.elements import Scale, cut, label, tag, text, ticks, width_of

ROWS = 12
_LONGEST, _STEP, _WIDTH = 30, 18.0, 400.0
_ABOUT = (
    f"The {ROWS} best detectors of each stream: the dot is the mean AUROC over seeds, the bar its 95 % interval, from "
    "three seeds on. Full dots are the best and those not told apart from it. The line is the best of random, degree "
    "and recency."
)


def ranking_panel(rows: Sequence[ShownRow]) -> Panel:
    """One chart per place."""
    title, name = "The ranking", "ranking"
    places: dict[Place, list[ShownRow]] = {}
    for row in rows:
        if not row.threshold and row.rank is not None:
            places.setdefault(row.place, []).append(row)
    if not places:
        return Panel(name, title, _ABOUT, empty="No row is ranked by AUROC.")
    cells = []
    for place, part in places.items():
        for row in part:
            figure = row.figures[row.ranks_by]
            cells.append((place.label, row.rank, row.name, row.standing, figure.mean, figure.lo, figure.hi))
    columns = ("place", "rank", "method", "standing", "auroc", "lo", "hi")
    return Panel(name, title, _ABOUT, tuple(map(_chart, places.values())), Table(columns, cells))


def _chart(rows: Sequence[ShownRow]) -> Chart:
    place = rows[0].place
    floor = max((_mean(row) for row in rows if row.label == "floor"), default=None)
    best = list(rows[:ROWS])
    names = [cut(row.name, _LONGEST) for row in best]
    left = max(map(width_of, names)) + 12
    figures = [row.figures[row.ranks_by] for row in best]
    low = min([value for one in figures for value in (one.mean, one.lo) if value is not None] + [floor or 1.0])
    at = Scale(max(low - 0.03, 0.0), 1.0, left, _WIDTH - 12)
    bottom = 10 + _STEP * len(best)
    described = f"The {len(best)} best of {len(rows)} on {place.label}; {best[0].name} leads with {_mean(best[0]):.3f}."
    parts = [tag("title", text(f"The ranking on {place.label}")), tag("desc", text(described))]
    for value in ticks(at.low, at.high, 5):
        parts.append(tag("line", x1=at(value), x2=at(value), y1=6, y2=bottom, class_="grid"))
        parts.append(tag("text", text(label(value)), x=at(value), y=bottom + 14, class_="tick mid"))
    if floor is not None:
        told = tag("title", text(f"the floor: {floor:.3f}"))
        line = tag("path", told, d=f"M{at(floor):.1f} 6V{bottom:.1f}", class_="line")
        parts.append(tag("g", line, class_="c1 dashed"))
    for number, (row, name) in enumerate(zip(best, names, strict=True)):
        parts.append(_row(row, name, at, 10 + _STEP * (number + 0.5), left))
    parts.append(tag("text", text("AUROC"), x=(left + _WIDTH) / 2, y=bottom + 30, class_="name mid"))
    return Chart(place.title, svg(_WIDTH, bottom + 36, *parts), twin=place.twin)


def _mean(row: ShownRow) -> float:
    return row.figures[row.ranks_by].mean or 0.0


def _row(row: ShownRow, name: str, at: Scale, y: float, left: float) -> str:
    figure = row.figures[row.ranks_by]
    told = tag("title", text(f"{row.rank}. {row.name}: {tooltip(figure)}, {row.standing}"))
    parts = [told, tag("text", text(name), x=left - 8, y=y + 4, class_="tick end")]
    if figure.lo is not None and figure.hi is not None:
        ends = f"M{at(max(figure.lo, at.low)):.1f} {y:.1f}H{at(min(figure.hi, 1.0)):.1f}"
        parts.append(tag("path", d=ends, class_="line"))
    leads = row.rank == 1 or not row.differs_from_best
    parts.append(tag("circle", cx=at(_mean(row)), cy=y, r=3.6, class_="dot" if leads else "ring solid"))
    return tag("g", *parts, class_="c0")
