"""A stream over its years: growth, classes, homophily and drift."""

from __future__ import annotations

from typing import Any

from lgl_bench.report.data.stream_facts import StreamFacts
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart, Dot, Series, chart
from lgl_bench.report.svg.frame import Axes


def stream_panels(facts: StreamFacts, prefix: str) -> list[Panel]:
    """Growth, classes, and homophily with drift, year by year."""
    years = facts.years
    if len(years) < 2:
        return []
    from_to = f"from {years[0]['time']} to {years[-1]['time']}"
    last = years[-1]
    drawn: list[tuple[str, str, str, tuple[str, ...], Chart]] = [
        (
            "growth",
            "Growth",
            "Vertices and edges of the graph up to each year, on a logarithmic scale.",
            ("vertices", "edges"),
            _growth(
                facts.name,
                years,
                f"{facts.name} grows to {last['vertices']:,} vertices, {last['edges']:,} edges, {from_to}.",
            ),
        ),
        (
            "classes",
            "Classes known and new",
            "The line counts the classes seen up to each year, the bars those born in it.",
            ("known", "new"),
            _classes(facts.name, years, f"{facts.name} has {last['known']} classes at the end, {from_to}."),
        ),
        (
            "homophily",
            "Homophily and drift",
            "Homophily is class-insensitive: 0 if edges ignore classes. Drift is the total variation distance "
            "between the classes of a year and those before it.",
            ("homophily", "drift"),
            _homophily(facts.name, years, f"Homophily and class drift of {facts.name}, {from_to}."),
        ),
    ]
    return [
        Panel(
            f"{prefix}-{name}",
            title,
            about,
            (picture,),
            Table(("year", *columns), [(row["time"], *(row[column] for column in columns)) for row in years]),
            kind=name,
        )
        for name, title, about, columns, picture in drawn
    ]


def _dots(years: list[dict[str, Any]], column: str, form: str) -> list[Dot]:
    return [
        Dot(row["time"], row[column], f"{row['time']}: {format(row[column], form)} {column}")
        for row in years
        if row[column] is not None
    ]


def _growth(title: str, years: list[dict[str, Any]], described: str) -> Chart:
    vertices = [dot for dot in _dots(years, "vertices", ",") if dot.y > 0]
    edges = [dot for dot in _dots(years, "edges", ",") if dot.y > 0]
    axes = Axes("year", "count", whole=True, log_y=True)
    return chart(title, described, [Series("vertices", vertices, 0), Series("edges", edges, 1)], axes)


def _classes(title: str, years: list[dict[str, Any]], described: str) -> Chart:
    known = Series("known", _dots(years, "known", ","), 0)
    new = Series("new that year", [dot for dot in _dots(years, "new", ",") if dot.y], 1, "bars")
    return chart(title, described, [new, known], Axes("year", "classes", whole=True, whole_y=True))


def _homophily(title: str, years: list[dict[str, Any]], described: str) -> Chart:
    homophily = Series("class-insensitive homophily", _dots(years, "homophily", ".3f"), 0)
    drift = Series("drift of the classes", _dots(years, "drift", ".3f"), 1, dashed=True)
    axes = Axes("year", "share", whole=True, y_range=(0.0, 1.0))
    return chart(title, described, [homophily, drift], axes)
