"""Leaderboard rows as the report shows them: ranked within what may be compared, ties marked."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lgl_bench.leaderboard.schema import ranks_by
from lgl_bench.leaderboard.seeds import METHOD_KEYS
from lgl_bench.report.curves import Curve, curves_of
from lgl_bench.report.metrics import METRICS
from lgl_bench.report.names import shape, slug
from lgl_bench.report.sources import METHOD, PLACE, Source
from lgl_bench.report.ties import ties


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric of a row: mean over seeds with its interval, or the reason why there is none."""

    mean: float | None
    std: float | None = None
    lo: float | None = None
    hi: float | None = None
    seeds: int | None = None
    years: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows may be compared: one stream, cut one way. `label` tells it apart from the other places."""

    values: tuple[str, ...]
    label: str

    @property
    def stream(self) -> str:
        """Name of the stream."""
        return self.values[PLACE.index("stream")]

    @property
    def checksum(self) -> str:
        """Of the stream."""
        return self.values[PLACE.index("stream_checksum")]

    @property
    def slug(self) -> str:
        """Name for files."""
        return slug(self.label, *self.values)


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A method on a stream.

    Attributes:
        place: Among which rows it is ranked.
        figures: Every metric by name.
        rank: 1 is best; None where the ranking metric is undefined or the threshold knows the answer.
        standing: As `ties` says: best, tie, behind, untested, unranked.
        curve: Its values over the years; None where there are none.
        source: Position of the input it is from.
    """

    place: Place
    backbone: str
    head: str
    detector: str
    threshold: str
    preset: str
    select: str
    chosen: str
    trials: int | None
    figures: Mapping[str, Figure]
    fit_seconds: float | None
    peak_memory_mb: float | None
    n_new: float | None
    facts: Mapping[str, str]
    curve: Curve | None
    source: int
    rank: int | None = None
    standing: str = "unranked"

    @property
    def method(self) -> tuple[str, str]:
        """Backbone and the detector's names: parameters may differ from stream to stream, as presets do."""
        return self.backbone, shape(self.detector)

    @property
    def page(self) -> str:
        """File name of the page of its method."""
        return slug(*self.method)

    @property
    def ranks_by(self) -> str:
        """The metric that ranks it."""
        return ranks_by(self.place.values[PLACE.index("protocol")], self.threshold)


def report_rows(sources: Sequence[Source]) -> list[Row]:
    """Every row of every input, place by place, best first; detection before decisions."""
    places = _places(sources)
    found: list[Row] = []
    for at, source in enumerate(sources):
        curves = curves_of(source.years)
        for record in source.board.to_dict("records"):
            found.append(_row({str(name): value for name, value in record.items()}, places, curves, at))
    groups: dict[tuple[str, tuple[str, ...], bool], list[Row]] = defaultdict(list)
    for row in found:
        groups[row.place.label, row.place.values, bool(row.threshold)].append(row)
    return [row for key in sorted(groups) for row in _ranked(groups[key])]


def _ranked(rows: list[Row]) -> list[Row]:
    def value(row: Row) -> float | None:
        return None if shape(row.threshold) == "oracle" else row.figures[row.ranks_by].mean

    ordered = sorted(rows, key=lambda row: (value(row) is None, -(value(row) or 0.0), row.detector, row.backbone))
    counted = [row for row in ordered if value(row) is not None]
    split = rows[0].place.values[PLACE.index("split")] if rows else ""
    standing = ties([row.figures[row.ranks_by] for row in counted], split)
    return [
        *(
            replace(row, rank=1 + sum((value(other) or 0.0) > (value(row) or 0.0) for other in counted), standing=mark)
            for row, mark in zip(counted, standing, strict=True)
        ),
        *ordered[len(counted) :],
    ]


def _places(sources: Sequence[Source]) -> dict[tuple[str, ...], Place]:
    """Places with labels: the stream, and whatever else tells it apart from other places on that stream."""
    keys = {key for source in sources for key in source.board[list(PLACE)].itertuples(index=False, name=None)}
    at = PLACE.index("stream")
    found = {}
    for key in keys:
        rivals = [other for other in keys if other[at] == key[at]]
        differs = [i for i in range(len(PLACE)) if len({other[i] for other in rivals}) > 1]
        parts = [f"{PLACE[i].replace('_', ' ')} {key[i][:12] or 'none'}" for i in differs]
        if len(differs) == 1 and PLACE[differs[0]] == "split":
            parts = [key[differs[0]]]
        found[key] = Place(key, " · ".join([key[at], *parts]))
    return found


def _row(
    record: dict[str, Any], places: dict[tuple[str, ...], Place], curves: dict[tuple[str, ...], Curve], source: int
) -> Row:
    trials = _number(record["tuning_trials"])
    return Row(
        place=places[tuple(record[name] for name in PLACE)],
        **{name: record[name] for name in METHOD},
        chosen=record["chosen"],
        trials=None if trials is None else int(trials),
        figures={metric: _figure(record, metric) for metric in METRICS},
        fit_seconds=_number(record["fit_seconds"]),
        peak_memory_mb=_number(record["peak_memory_mb"]),
        n_new=_number(record["n_new"]),
        facts={name: record[name] for name in ("trust", "submitter", "device", "created_at")},
        curve=curves.get(tuple(record[name] for name in METHOD_KEYS)),
        source=source,
    )


def _figure(record: dict[str, Any], metric: str) -> Figure:
    mean = _number(record[f"{metric}_mean"])
    seeds, years = (_number(record[f"{metric}_{part}"]) for part in ("n_seeds", "n_years"))
    reason = record[f"{metric}_reason"]
    if mean is None and not reason:
        needs = metric in ("micro_f1", "macro_f1", "mcc", "open_f1") and not record["threshold"]
        reason = "no threshold, so no decisions" if needs else "the table gives no reason"
    std, lo, hi = (_number(record[f"{metric}_{part}"]) for part in ("std", "lo", "hi"))
    n_seeds, n_years = (None if count is None else int(count) for count in (seeds, years))
    return Figure(mean, std, lo, hi, n_seeds, n_years, "" if mean is not None else reason)


def _number(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
