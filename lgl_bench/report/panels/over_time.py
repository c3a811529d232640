"""Curves over the years, with bands over seeds and the years of new classes marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lgl_bench.report.data.curves import Curve
from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart, Dot, Series, chart
from lgl_bench.report.svg.frame import Axes

LEADERS = 5
SHADED = "Years with new classes are shaded"


def dots(curve: Curve, metric: str, name: str) -> list[Dot]:
    """The defined points of a metric; folds stand at 0, 1, ..."""
    found = []
    for at, (place, point) in enumerate(zip(curve.at, curve.values.get(metric, ()), strict=False)):
        if point is None:
            continue
        x = float(place) if curve.over_years else float(at)
        band = f", {point.lo:.3f} to {point.hi:.3f} over {point.seeds} seeds" if point.seeds > 1 else ""
        tooltip = f"{place}: {name} {point.mean:.3f}{band}{'' if curve.test[at] else ' (validation year)'}"
        found.append(Dot(x, point.mean, tooltip, point.lo, point.hi))
    return found


def axes_of(curve: Curve, what: str = "AUROC", *, wide: bool = False) -> Axes:
    """Years with their new vertices marked, or the folds by name; what is shown over them is a share."""
    if not curve.over_years:
        return Axes("class left out", what, names=[str(name) for name in curve.at], y_end=1.0, wide=wide)
    marks = [
        (float(time), f"{time}: {new:,.0f} new vertices")
        for time, new in zip(curve.at, curve.n_new, strict=True)
        if new > 0
    ]
    return Axes("year", what, marks=marks, y_end=1.0, whole=True, wide=wide, end_names=wide)


def _kind(curve: Curve) -> Literal["line", "dots"]:
    return "line" if curve.over_years else "dots"


def method_chart(row: ShownRow) -> Chart | None:
    """AUROC and accuracy of one method on one stream; None if nothing is defined."""
    curve = row.curve
    if curve is None:
        return None
    series = [
        Series(name, dots(curve, metric, name), colour, _kind(curve), dashed)
        for metric, name, colour, dashed in (("auroc", "AUROC", 0, False), ("accuracy", "accuracy", 1, True))
    ]
    if not any(one.dots for one in series):
        return None
    return chart(row.place.title, _described(row), series, axes_of(curve, "AUROC, accuracy"), twin=row.place.twin)


def _described(row: ShownRow) -> str:
    values = [value for value in (row.curve.means("auroc") if row.curve else []) if value is not None]
    if not values:
        return f"{row.detector} with {row.backbone} has no AUROC in any year."
    return f"AUROC of {row.detector} with {row.backbone} lies between {min(values):.3f} and {max(values):.3f}."


def leaders_panel(rows: Sequence[ShownRow], name: str) -> Panel:
    """The best methods of each place over its years, one chart per place, and the table behind them."""
    title = "The leaders over the years"
    about = (
        f"AUROC of the {LEADERS} best detectors, with the interval over seeds as a band. {SHADED}; without any there "
        "is no AUROC, and the line joins the years that have one."
    )
    charts, drawn = [], []
    for place in dict.fromkeys(row.place for row in rows):
        best = leaders([row for row in rows if row.place == place])
        picture = _leaders(best)
        if picture is not None:
            charts.append(picture)
            drawn += best
    undefined = any(row.curve is not None for row in rows)
    if not charts:
        why = "AUROC is undefined in every year." if undefined else "There are no year rows behind these results."
        return Panel(name, title, about, empty=why)
    return Panel(name, title, about, tuple(charts), curve_table(drawn), wide=True)


def leaders(rows: Sequence[ShownRow]) -> list[ShownRow]:
    """The best rows that have a curve; of several variants of a method, the best."""
    best: dict[tuple[str, ...], ShownRow] = {}
    for row in rows:
        if not row.threshold and row.rank is not None and row.curve is not None:
            best.setdefault(row.method, row)
    return list(best.values())[:LEADERS]


def _leaders(best: Sequence[ShownRow]) -> Chart | None:
    series = []
    for colour, row in enumerate(best):
        assert row.curve is not None
        series.append(Series(row.name, dots(row.curve, "auroc", row.name), colour, _kind(row.curve)))
    if not any(one.dots for one in series):
        return None
    assert best[0].curve is not None
    place, described = best[0].place, f"AUROC over the years of the {len(best)} best."
    return chart(place.title, described, series, axes_of(best[0].curve, wide=True), twin=place.twin)


def curve_table(rows: Sequence[ShownRow]) -> Table:
    """Every point of some curves."""
    columns = ("stream", "strategy", "backbone", "detector", "threshold", "at", "role", "n_new")
    found = []
    for row in rows:
        if row.curve is None:
            continue
        for at, place in enumerate(row.curve.at):
            role = "test" if row.curve.test[at] else "validation"
            cells: list[object] = [row.place.label, row.strategy, row.backbone, row.detector, row.threshold]
            cells += [place, role, row.curve.n_new[at]]
            for metric in ("auroc", "accuracy", "macro_f1"):
                points = row.curve.values.get(metric, ())
                point = points[at] if at < len(points) else None
                cells += [None] * 3 if point is None else [point.mean, point.lo, point.hi]
            found.append(cells)
    parts = [f"{metric}_{part}" for metric in ("auroc", "accuracy", "macro_f1") for part in ("mean", "lo", "hi")]
    return Table((*columns, *parts), found)
