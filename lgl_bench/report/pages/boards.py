"""The boards of the pages: rows as cells, with every word and drawing ready for the templates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from lgl_bench.core.grammar import without_values
from lgl_bench.leaderboard.compare.standing import BEHIND, BEST, INCONCLUSIVE, TIE, UNTESTED
from lgl_bench.leaderboard.table.schema import Figures
from lgl_bench.leaderboard.table.text import NOT_IN_TABLE
from lgl_bench.metrics import metrics as registry
from lgl_bench.report.data.metrics import DECISIONS, DETECTION, LIFELONG, METRICS, Shown, tooltip
from lgl_bench.report.data.names import values
from lgl_bench.report.data.rows import Place, ShownRow
from lgl_bench.report.svg.marks import interval, spark

STANDING = {
    BEST: "best of its group",
    TIE: "tie: not told apart from the best, and a hundred seeds would not either if the difference stays",
    BEHIND: "behind the best",
    UNTESTED: "fewer than three seeds: not tested against the best",
}
NOT_ABOVE_FLOOR = "does not beat random, degree and recency beyond noise"


@dataclass(frozen=True, slots=True)
class ShownMetric:
    """A metric of a row: the number as text and as sort key, its drawing, its tooltip, or why there is no value."""

    text: str
    sort: str
    drawing: Markup
    tooltip: str
    reason: str


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a board, as it is shown."""

    row: ShownRow
    name: str
    parameters: str
    threshold: str
    threshold_parameters: str
    cells: list[ShownMetric]
    over_years: Markup


@dataclass(frozen=True, slots=True)
class PlaceRows:
    """The rows of one place: the lines that are shown, how many rows there are, and how many tie with the best."""

    place: Place
    lines: list[Line]
    count: int
    ties: int


@dataclass(frozen=True, slots=True)
class BoardTable:
    """A table of groups: detection, or decisions.

    Attributes:
        kind: detection or decisions; it is part of element ids.
        undefined: Metrics left out because no row has them, each with a reason.
    """

    kind: str
    title: str
    about: str
    columns: list[Shown]
    groups: list[PlaceRows]
    undefined: list[tuple[str, str]]
    has_years: bool
    has_strategies: bool = False


def boards(rows: Sequence[ShownRow], most: int | None = None) -> list[BoardTable]:
    """Detection and decisions, with the best `most` rows of each place; a kind without rows is left out."""
    kinds = (
        (
            "detection",
            "Who finds what is new",
            "Detectors, ranked by AUROC within each stream. Rows of different streams are never ranked together.",
            DETECTION,
            "auroc",
            [row for row in rows if not row.threshold],
        ),
        (
            "decisions",
            "Who decides well",
            "Detectors with a threshold, ranked by Matthews' correlation (MCC) of new and rejected.",
            DECISIONS,
            "macro_f1",
            [row for row in rows if row.threshold],
        ),
    )
    return [board(*given, most) for given in kinds if given[-1]]


def board(
    kind: str, title: str, about: str, names: Sequence[str], curve: str, rows: Sequence[ShownRow], most: int | None
) -> BoardTable:
    """One table. A metric that no row has is left out and listed; the first one, which ranks, always stays."""
    empty = [name for name in names if all(row.figures[name].mean is None for row in rows)]
    if not any(row.shown_strategy for row in rows):
        names = [name for name in names if name not in LIFELONG]
    kept = [name for name in names if name not in empty or name == names[0]]
    undefined = []
    for name in empty:
        reasons = {row.figures[name].reason for row in rows}
        if name not in LIFELONG and (reasons != {NOT_IN_TABLE} or name == names[0]):
            undefined.append((METRICS[name].label, "; ".join(sorted(reasons)[:3])))
    places: dict[Place, list[ShownRow]] = {}
    for row in rows:
        places.setdefault(row.place, []).append(row)
    groups = [_group(place, part, kept, curve, most) for place, part in places.items()]
    has_years = any(line.over_years for group in groups for line in group.lines)
    shown = [METRICS[name] for name in kept]
    return BoardTable(kind, title, about, shown, groups, undefined, has_years, any(row.shown_strategy for row in rows))


def _group(place: Place, rows: Sequence[ShownRow], names: Sequence[str], curve: str, most: int | None) -> PlaceRows:
    ranges = {name: _range([row.figures[name] for row in rows], name) for name in names}
    means = {row: row.curve.means(curve) if row.curve and row.curve.over_years else [] for row in rows}
    defined = [value for part in means.values() for value in part if value is not None]
    low, high = (min(defined), max(defined)) if defined else (0.0, 1.0)
    lines = []
    for row in rows[:most]:
        name = without_values(row.detector)
        threshold = without_values(row.threshold)
        lines.append(
            Line(
                row,
                name,
                values(row.detector),
                threshold,
                values(row.threshold),
                [cell(row.figures[name], *ranges[name]) for name in names],
                _spark(row, means[row], low, high),
            )
        )
    return PlaceRows(place, lines, len(rows), sum(not row.differs_from_best for row in rows))


def standing_in_words(row: ShownRow) -> str:
    """How a row stands to the best of its group, or why it is not ranked."""
    if row.word == INCONCLUSIVE:
        return f"{row.standing}: so many would tell it from the best if the difference stays"
    return STANDING.get(row.word) or f"not ranked: {row.unranked_reason}"


def _spark(row: ShownRow, means: Sequence[float | None], low: float, high: float) -> Markup:
    if len(means) < 2 or row.curve is None:
        return Markup("")
    points = [f"{at}: {value:.3f}" for at, value in zip(row.curve.at, means, strict=False) if value is not None]
    return Markup(spark(means, low, high, ", ".join(points)))


def _range(figures: Sequence[Figures], name: str) -> tuple[float, float]:
    """What the values of a metric span, within its range."""
    values = [value for one in figures for value in (one.mean, one.lo, one.hi) if value is not None]
    low, high = registry.described(name).range
    least, most = -1.0 if low is None else low, math.inf if high is None else high
    return (max(min(values), least), min(max(values), most)) if values else (0.0, 1.0)


def cell(figure: Figures, low: float = 0.0, high: float = 1.0) -> ShownMetric:
    """A metric as a cell."""
    if figure.mean is None:
        return ShownMetric("–", "", Markup(""), "", figure.reason)
    drawn = Markup(interval(figure.mean, figure.lo, figure.hi, low, high))
    return ShownMetric(f"{figure.mean:.3f}", f"{figure.mean:.5g}", drawn, tooltip(figure), "")


def amount(value: float | None, digits: int = 0) -> str:
    """A cost: thousands with commas."""
    if value is None:
        return "unknown"
    return f"{value:,.{digits}f}" if value < 1000 else f"{value:,.0f}"


def choices(rows: Sequence[ShownRow]) -> dict[str, list[str]]:
    """What the filters offer."""
    found: dict[str, Any] = {
        "stream": {row.place.stream for row in rows},
        "strategy": {row.shown_strategy for row in rows if row.shown_strategy},
        "backbone": {row.backbone for row in rows},
        "detector": {without_values(row.detector) for row in rows},
        "threshold": {without_values(row.threshold) for row in rows if row.threshold},
    }
    return {name: sorted(values) for name, values in found.items()}
