"""How long until a class that emerges is detected, and with how many false alarms: a grid of classes and methods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from lgl_bench.core.grammar import without_values
from lgl_bench.grading.board_delays import delays_of_row
from lgl_bench.report.data.rows import Place, ShownRow
from lgl_bench.report.data.sources import ReportInput
from lgl_bench.report.data.tables import Table
from lgl_bench.report.panels.panel import Panel
from lgl_bench.report.svg.charts import Chart, svg
from lgl_bench.report.svg.elements import tag, text

METHODS = 4
"""Methods per place and kind."""
_TITLE, _NAME = "Delay of detection", "delay"
_ABOUT = (
    "Years from the birth of a class until it is detected while still new. With a threshold, detected means that half "
    "of its vertices are rejected; without, that they are told from known ones with an AUROC of 0.8. A full dot is "
    "detected at once, a number is the delay in years, a ring is never; paler dots are detected with some seeds only. "
    "Who rejects everything detects everything at once, so false alarms stand beside it: the share of known vertices "
    "called new in the years a class was looked for, by the same decisions, and without a threshold by the cut that "
    "finds half of the class; the mean over classes and seeds."
)


class Found(NamedTuple):
    """A class with one seed: its delay, and the false-alarm rate of the same decisions."""

    delay: float | None
    false_alarms: float | None


Delays: TypeAlias = dict[int, list[Found]]
"""Per class, one entry per seed."""


def best_methods(rows: Iterable[ShownRow]) -> list[ShownRow]:
    """The rows of a place whose delays are shown: the best without a threshold, then the best with one.

    Of rows with the same rank the key decides, so that a run folder and a board made from it show the same.
    """
    given = list(rows)
    places = sorted((row.rank, row.key, at) for at, row in enumerate(given) if row.rank is not None)
    best = [given[at] for *_, at in places]
    return [*[row for row in best if not row.threshold][:METHODS], *[row for row in best if row.threshold][:METHODS]]


def delay_panel(rows: Sequence[ShownRow], sources: Sequence[ReportInput]) -> Panel:
    """A grid per place: classes in the order of their birth against the best methods."""
    charts: list[Chart] = []
    table: list[tuple[object, ...]] = []
    for place in dict.fromkeys(row.place for row in rows):
        found: dict[ShownRow, Delays] = {}
        born: dict[int, int] = {}
        for row in best_methods(row for row in rows if row.place == place):
            read = delays_of_row(sources[row.source].delays, row.key)
            if len(read):
                found[row] = _per_class(read)
                born |= dict(zip(read["class"].tolist(), read["born"].tolist(), strict=True))
        if found:
            charts.append(_grid(found, born, place))
            table += [
                (
                    *(place.label, row.strategy, row.backbone, row.detector, row.threshold, label, born[label]),
                    *_cell(values),
                )
                for row, delays in found.items()
                for label, values in delays.items()
            ]
    if not charts:
        why = (
            "No run over several years is here, and no delays are beside a CSV; 'lgl-bench leaderboard build' writes "
            "them there from a run folder."
        )
        return Panel(_NAME, _TITLE, _ABOUT, empty=why)
    columns = ["place", "strategy", "backbone", "detector", "threshold", "class", "born"]
    columns += ["detected_share_of_seeds", "median_delay", "false_alarm_rate"]
    return Panel(_NAME, _TITLE, _ABOUT, tuple(charts), Table(columns, table), wide=True)


def _per_class(read: pd.DataFrame) -> Delays:
    found: Delays = defaultdict(list)
    for label, *values in zip(read["class"], read["detection_delay"], read["false_alarm_rate"], strict=True):
        found[int(label)].append(Found(*(None if pd.isna(value) else float(value) for value in values)))
    return dict(found)


def _cell(values: Sequence[Found]) -> tuple[float, float | None, float | None]:
    """Share of seeds that detect the class, their median delay, and the mean false-alarm rate of all seeds."""
    defined = [one.delay for one in values if one.delay is not None]
    median = float(np.median(defined)) if defined else None
    return len(defined) / len(values), median, _false_alarms(values)


def _false_alarms(values: Iterable[Found]) -> float | None:
    rates = [one.false_alarms for one in values if one.false_alarms is not None]
    return float(np.mean(rates)) if rates else None


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.0%}"


def _grid(found: dict[ShownRow, Delays], born: dict[int, int], place: Place) -> Chart:
    classes = sorted(born, key=lambda k: (born[k], k))
    step = 22.0
    across = 34.0
    left, top = 250.0, 8.0
    right = left + across * len(classes)
    width, height = max(right + 100, left + 250), top + step * len(found) + 40
    described = f"{len(classes)} classes emerge on {place.label}; rows are methods."
    parts = [tag("title", text(f"Delay of detection: {place.label}")), tag("desc", text(described))]
    for row_at, (row, delays) in enumerate(found.items()):
        y = top + step * row_at + step / 2
        name = row.name + (f", {without_values(row.threshold)}" if row.threshold else "")
        cut = name if len(name) <= 38 else name[:37] + "…"
        parts.append(tag("text", tag("title", text(name)), text(cut), x=left - 10, y=y + 4, class_="tick end"))
        rate = _percent(_false_alarms(one for values in delays.values() for one in values))
        parts.append(tag("text", text(rate), x=right + 10, y=y + 4, class_="tick"))
        for at, k in enumerate(classes):
            if delays.get(k):
                parts.append(_dot(left + across * at + across / 2, y, k, born[k], delays[k]))
    for at, k in enumerate(classes):
        if at == 0 or born[k] != born[classes[at - 1]]:
            x = left + across * at
            parts.append(tag("line", x1=x, x2=x, y1=top - 4, y2=top + step * len(found) + 6, class_="grid"))
            parts.append(tag("text", text(born[k]), x=x + 3, y=height - 20, class_="tick"))
    parts.append(tag("text", text("classes, by the year they were born in"), x=left, y=height - 4, class_="name"))
    parts.append(tag("text", text("false alarms"), x=right + 10, y=height - 20, class_="tick"))
    drawn = svg(width, height, *parts, css="chart natural", width=width)
    return Chart(place.title, drawn, width=width, twin=place.twin)


def _dot(x: float, y: float, k: int, born: int, values: Sequence[Found]) -> str:
    share, median, rate = _cell(values)
    alarms = f"false alarms {_percent(rate)}"
    if median is None:
        tooltip = f"class {k}, born {born}: not detected while new, {alarms}"
        return tag("circle", tag("title", text(tooltip)), cx=x, cy=y, r=6, class_="ring")
    tooltip = f"class {k}, born {born}: detected after {median:g} years with {share:.0%} of the seeds, {alarms}"
    dot = tag(
        "circle", tag("title", text(tooltip)), cx=x, cy=y, r=7, class_="hit", fill_opacity=f"{0.35 + 0.65 * share:.2f}"
    )
    number = tag("text", text(f"{median:g}"), x=x, y=y + 4, class_="tick mid on") if median > 0 else ""
    return tag("g", dot, number)
