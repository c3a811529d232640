"""Rows that differ in one number alone: GOOD over alpha, and thresholds over their rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from lgl_bench.core.expressions import Expression
from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.report.data.names import expression
from lgl_bench.report.data.rows import ShownRow
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart, Dot, Series, chart
from lgl_bench.report.svg.frame import Axes

MIN_POINTS = 3
RATES = ("q", "delta")


@dataclass(frozen=True, slots=True)
class Sweep:
    """One line of a sweep: what is held fixed, and rows by the number that varies.

    Attributes:
        place: Title of the place.
        name: What the line shows.
        dashed: Whether it was fitted with test vertices.
        points: The number and its row, in order.
    """

    place: str
    name: str
    dashed: bool
    points: tuple[tuple[float, ShownRow], ...]


def alpha_sweeps(rows: Sequence[ShownRow]) -> list[Sweep]:
    """Rows of GOOD over the same detector and backbone, by alpha; lines of three points or more."""
    found: dict[tuple[str, str], dict[float, ShownRow]] = defaultdict(dict)
    for row in rows:
        parsed = expression(row.detector)
        if row.threshold or parsed is None or parsed.name != "good" or len(parsed.arguments) != 1:
            continue
        alpha = dict(parsed.parameters).get("alpha")
        if isinstance(alpha, int | float):
            name = ", ".join(filter(None, (str(parsed.arguments[0]), row.backbone, row.shown_strategy)))
            found[row.place.title, name].setdefault(float(alpha), row)
    return [
        Sweep(place, name, False, tuple(sorted(points.items(), key=lambda pair: pair[0])))
        for (place, name), points in found.items()
        if len(points) >= MIN_POINTS
    ]


def rate_sweeps(rows: Sequence[ShownRow]) -> list[Sweep]:
    """Rows of the same threshold, detector and backbone, by q or delta."""
    found: dict[tuple[str, str, bool, str], dict[float, ShownRow]] = defaultdict(dict)
    for row in rows:
        parsed = expression(row.threshold) if row.threshold else None
        rate = next((name for name in RATES if parsed and name in dict(parsed.parameters)), None)
        if parsed is None or rate is None:
            continue
        values = dict(parsed.parameters)
        fixed = Expression(parsed.name, (), tuple(pair for pair in parsed.parameters if pair[0] != rate))
        seen = values.get("fit") == "test"
        name = f"{parsed.name} over {rate}{', with test vertices' if seen else ''}"
        key = (row.place.title, name, seen, f"{fixed} {row.detector} {row.backbone} {row.strategy}")
        found[key].setdefault(float(values[rate]), row)
    return [
        Sweep(place, name, seen, tuple(sorted(points.items(), key=lambda pair: pair[0])))
        for (place, name, seen, _), points in found.items()
        if len(points) >= MIN_POINTS
    ]


def alpha_panel(rows: Sequence[ShownRow]) -> Panel:
    """GOOD's sweep over alpha, one chart per place."""
    about = (
        "How much weight GOOD gives to the neighbours: at alpha 0 a vertex's own novelty alone counts, at 1 that of "
        "its neighbours alone. Bands are 95 % intervals over seeds."
    )
    empty = f"No detector was run at {MIN_POINTS} or more values of alpha; 'lgl-bench run --suite alpha' does."
    return _panel("alpha", "GOOD over alpha", about, alpha_sweeps(rows), "auroc_weighted", "alpha", "AUROC", empty)


def sensitivity_panel(rows: Sequence[ShownRow]) -> Panel:
    """Threshold sensitivity: q and delta against macro F1."""
    about = (
        "How much a threshold's quality depends on its rate. Solid lines are fitted on train vertices only, dashed "
        "ones saw test vertices, which a method in use cannot."
    )
    empty = f"No threshold was run at {MIN_POINTS} or more rates; 'lgl-bench run --suite thresholds' does."
    found = rate_sweeps(rows)
    return _panel("sensitivity", "Sensitivity of thresholds", about, found, "macro_f1", "q, delta", "macro F1", empty)


def _panel(name: str, title: str, about: str, sweeps: list[Sweep], metric: str, x: str, y: str, empty: str) -> Panel:
    charts = []
    for place in dict.fromkeys(sweep.place for sweep in sweeps):
        drawn = sweep_chart([sweep for sweep in sweeps if sweep.place == place], place, metric, x, y)
        if drawn is not None:
            charts.append(drawn)
    if not charts:
        return Panel(name, title, about, empty=empty if not sweeps else f"{y} is undefined everywhere in this sweep.")
    columns = ("place", "series", "value", *(metric_column(metric, suffix) for suffix in ("mean", "lo", "hi")))
    table = [
        (sweep.place, sweep.name, at, row.figures[metric].mean, row.figures[metric].lo, row.figures[metric].hi)
        for sweep in sweeps
        for at, row in sweep.points
    ]
    return Panel(name, title, about, tuple(charts), Table(columns, table))


def sweep_chart(sweeps: Sequence[Sweep], place: str, metric: str, x: str, y: str) -> Chart | None:
    """One place's lines; None if nothing is defined."""
    # A dashed line takes the colour of the solid one beside it: same threshold, other vertices.
    colours = {name: at for at, name in enumerate(dict.fromkeys(_base_name(sweep.name) for sweep in sweeps))}
    series = []
    for sweep in sweeps:
        dots = []
        for at, row in sweep.points:
            figure = row.figures[metric]
            if figure.mean is not None:
                dots.append(Dot(at, figure.mean, f"{sweep.name}, {at:g}: {y} {figure.mean:.3f}", figure.lo, figure.hi))
        series.append(Series(sweep.name, dots, colours[_base_name(sweep.name)], dashed=sweep.dashed))
    if not any(one.dots for one in series):
        return None
    twin = sweeps[0].points[0][1].place.twin
    return chart(place, f"{y} over {x} on {place}.", series, Axes(x, y, y_end=1.0), twin=twin)


def _base_name(name: str) -> str:
    return name.removesuffix(", with test vertices")
