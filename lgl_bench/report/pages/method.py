"""What the page of a method shows: where it stands, year by year, and what it is."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lgl_bench.core.errors import LglBenchError
from lgl_bench.report.data.names import plugins
from lgl_bench.report.data.rows import Place, ShownRow
from lgl_bench.report.panels.over_time import method_chart
from lgl_bench.report.svg.charts import Chart


@dataclass(frozen=True, slots=True)
class AtYear:
    """A year of a method: its AUROC, and its rank among the methods of the place."""

    at: int | str
    value: float
    rank: int
    of: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A method on one place, by its best variant.

    Attributes:
        row: The best of its rows without a threshold.
        variants: How many rows it has there.
        of: How many rows are ranked there.
        gap: How far it is behind the leader; None if it is undefined.
        won: Years in which it is best.
        lost: Years in which it is in the last quarter, worst first.
        chart: Its curve.
    """

    row: ShownRow
    variants: int
    of: int
    gap: float | None
    won: list[AtYear]
    lost: list[AtYear]
    chart: Chart | None


class Places:
    """The ranked rows of every place, with the values of each year sorted once."""

    def __init__(self, rows: Sequence[ShownRow]) -> None:
        self.rows: dict[Place, list[ShownRow]] = {}
        for row in rows:
            if not row.threshold:
                self.rows.setdefault(row.place, []).append(row)
        self.ranked = {place: [row for row in part if row.rank is not None] for place, part in self.rows.items()}
        self.years: dict[Place, dict[int | str, list[float]]] = {}
        for place, part in self.ranked.items():
            at_year = self.years.setdefault(place, {})
            for row in part:
                for at, value in _values(row):
                    at_year.setdefault(at, []).append(value)

    def standing(self, row: ShownRow, variants: int) -> Standing:
        """Where a row stands, over all and year by year."""
        ranked = self.ranked[row.place]
        best = ranked[0].figures[row.ranks_by].mean if ranked else None
        mean = row.figures[row.ranks_by].mean
        years = []
        for at, value in _values(row) if row.rank is not None else []:
            rivals = self.years[row.place][at]
            years.append(AtYear(at, value, 1 + sum(other > value for other in rivals), len(rivals)))
        lost = sorted((year for year in years if year.of > 3 and year.rank > 0.75 * year.of), key=lambda y: -y.rank)
        return Standing(
            row,
            variants,
            len(ranked),
            None if best is None or mean is None else best - mean,
            [year for year in years if year.rank == 1 and year.of > 1],
            lost,
            method_chart(row),
        )


def _values(row: ShownRow) -> list[tuple[int | str, float]]:
    if row.curve is None:
        return []
    names = row.curve.at if row.curve.over_years else [f"class {at}" for at in row.curve.at]
    return [(at, value) for at, value in zip(names, row.curve.means("auroc"), strict=False) if value is not None]


def standings(rows: Sequence[ShownRow], places: Places) -> list[Standing]:
    """A method on every place it was run on."""
    found = []
    for place in dict.fromkeys(row.place for row in rows):
        here = [row for row in rows if row.place == place and not row.threshold]
        if here:
            best = min(here, key=lambda row: (row.rank is None, row.rank or 0))
            found.append(places.standing(best, len(here)))
    return found


@dataclass(frozen=True, slots=True)
class Reference:
    """What a plugin says of itself, paragraph by paragraph."""

    kind: str
    name: str
    paragraphs: tuple[str, ...]


def references(backbone: str, detector: str, strategy: str = "") -> list[Reference]:
    """The docstrings of the modules a method is made of; names nobody registered have none."""
    from lgl_bench.backbones import backbones
    from lgl_bench.detectors import detectors
    from lgl_bench.strategies import strategies

    kinds: list[tuple[str, Any, str]] = [("detector", detectors, name) for name in plugins(detector)]
    kinds += [("backbone", backbones, name) for name in plugins(backbone)[:1]]
    kinds += [("strategy", strategies, name) for name in plugins(strategy)[:1]]
    found: list[Reference] = []
    for kind, registry, name in kinds:
        try:
            plugin = registry.get(name)
        except LglBenchError:
            continue
        text = inspect.getdoc(sys.modules.get(plugin.__module__)) or inspect.getdoc(plugin) or ""
        paragraphs = tuple(part.strip() for part in text.split("\n\n") if part.strip())
        if paragraphs and all(one.paragraphs != paragraphs for one in found):
            found.append(Reference(kind, name, paragraphs))
    return found
