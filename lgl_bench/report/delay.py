"""How long until a class that emerges is detected, and with how many false alarms, read off the stored answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lgl_bench.core.errors import DataError, LglBenchError
from lgl_bench.core.types import IntArray
from lgl_bench.detectors.good import mix
from lgl_bench.leaderboard.seeds import METHOD_KEYS
from lgl_bench.metrics.emerging import YearAnswers, detection_delay, emerging_classes
from lgl_bench.report.charts import Chart, svg
from lgl_bench.report.names import expression, shape
from lgl_bench.report.panel import Panel, Table
from lgl_bench.report.rows import Row
from lgl_bench.report.sources import PLACE, Source
from lgl_bench.report.svg import tag, text
from lgl_bench.runs.store import RunStore

METHODS = 4
"""Methods a place and kind: reading answers takes longer than everything else."""
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


Delays = dict[int, list[Found]]


def delay_panel(rows: Sequence[Row], sources: Sequence[Source], data_dir: Path | None) -> Panel:
    """A grid a place: classes in the order of their birth against the best methods."""
    charts: list[Chart] = []
    table: list[tuple[object, ...]] = []
    reasons: list[str] = []
    for place in dict.fromkeys(row.place for row in rows):
        here = [row for row in rows if row.place == place and row.rank is not None]
        here = [row for row in here if row.curve is not None and row.curve.over_years and len(row.curve.at) > 1]
        picked = [row for row in here if not row.threshold][:METHODS] + [row for row in here if row.threshold][:METHODS]
        picked = [row for row in picked if sources[row.source].folder is not None]
        if not picked:
            continue
        try:
            labels = _labels(place.stream, place.checksum, data_dir)
        except LglBenchError as error:
            reasons.append(f"{place.label}: {error}")
            continue
        read = _Reading(labels)
        found = {row: read.delays(row, sources[row.source]) for row in picked}
        born = {label: year for row in picked for label, year in read.born.get(row.source, {}).items()}
        if born and any(found.values()):
            charts.append(_grid(found, born, place.label))
            table += [
                (place.label, row.backbone, row.detector, row.threshold, label, born.get(label), *_cell(values))
                for row, delays in found.items()
                for label, values in delays.items()
            ]
    if not charts:
        why = "; ".join(reasons) or "No answers over several years are at hand; a run folder has them, a CSV has not."
        return Panel(_NAME, _TITLE, _ABOUT, empty=why)
    columns = ["place", "backbone", "detector", "threshold", "class", "born"]
    columns += ["detected_share_of_seeds", "median_delay", "false_alarm_rate"]
    return Panel(_NAME, _TITLE, _ABOUT, tuple(charts), Table(columns, table), wide=True)


class _Reading:
    """Reads answers of one stream."""

    def __init__(self, labels: Callable[[IntArray], IntArray]) -> None:
        self.labels = labels
        self.born: dict[int, dict[int, int]] = {}

    def delays(self, row: Row, source: Source) -> Delays:
        """Of each emerging class, delay and false alarms with every seed."""
        assert source.folder is not None
        store = RunStore(source.folder)
        found: Delays = defaultdict(list)
        for _, part in _of(row, source.years).groupby("seed"):
            years = [year for year in (self._year(store, row, unit) for unit in part.to_dict("records")) if year]
            if not years:
                continue
            self.born.setdefault(row.source, {}).update(emerging_classes(years))
            for label, one in detection_delay(years).items():
                found[label].append(Found(one.delay.value, one.false_alarm_rate.value))
        return dict(found)

    def _year(self, store: RunStore, row: Row, unit: dict[Any, Any]) -> YearAnswers | None:
        record = store.fit(unit["key"])
        if record is None or not store.has_answers(unit["key"]):
            return None
        columns = store.columns(unit["key"])
        name = unit.get("chosen") or row.detector
        rejected = columns.get(f"rejected:{name}|{row.threshold}") if row.threshold else None
        novelty = _novelty(columns, name)
        if rejected is None and (row.threshold or novelty is None):
            return None
        return YearAnswers(
            int(unit["time"]),
            self.labels(columns["vertex"]),
            np.array(record.known, dtype=np.int64),
            rejected=rejected,
            novelty=novelty,
        )


def _of(row: Row, years: pd.DataFrame) -> pd.DataFrame:
    """The year rows behind a row."""
    place = dict(zip(PLACE, row.place.values, strict=True))
    fits = years["status"] == "ok"
    for name in METHOD_KEYS:
        fits &= years[name] == (place[name] if name in place else getattr(row, name))
    return years[fits]


def _novelty(columns: dict[str, Any], name: str) -> Any:
    if f"novelty:{name}" in columns:
        return columns[f"novelty:{name}"]
    parsed = expression(name)
    if parsed is None or parsed.name != "good" or len(parsed.arguments) != 1:
        return None
    own, near = (columns.get(f"{kind}:{parsed.arguments[0]}") for kind in ("novelty", "neighbour"))
    alpha = dict(parsed.parameters).get("alpha")
    return mix(own, near, float(alpha)) if own is not None and near is not None and alpha is not None else None


def _labels(name: str, checksum: str, data_dir: Path | None) -> Callable[[IntArray], IntArray]:
    from lgl_bench.streams.catalogue import load
    from lgl_bench.streams.checksum import stream_checksum
    from lgl_bench.streams.lookup import positions

    stream = load(name, data_dir)
    if stream_checksum(stream) != checksum:
        raise DataError("the stream at hand is not the one the rows were made on")
    place = positions(stream.ids)
    return lambda ids: stream.labels[place(ids)]


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


def _grid(found: dict[Row, Delays], born: dict[int, int], label: str) -> Chart:
    classes = sorted(born, key=lambda k: (born[k], k))
    step = 22.0
    across = 34.0
    left, top = 250.0, 8.0
    right = left + across * len(classes)
    width, height = max(right + 100, left + 250), top + step * len(found) + 40
    said = f"{len(classes)} classes emerge on {label}; rows are methods."
    parts = [tag("title", text(f"Delay of detection: {label}")), tag("desc", text(said))]
    for row_at, (row, delays) in enumerate(found.items()):
        y = top + step * row_at + step / 2
        name = f"{shape(row.detector)}, {row.backbone}" + (f", {shape(row.threshold)}" if row.threshold else "")
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
    return Chart(label, svg(width, height, *parts, css="chart natural", width=width))


def _dot(x: float, y: float, k: int, born: int, values: Sequence[Found]) -> str:
    share, median, rate = _cell(values)
    alarms = f"false alarms {_percent(rate)}"
    if median is None:
        said = f"class {k}, born {born}: not detected while new, {alarms}"
        return tag("circle", tag("title", text(said)), cx=x, cy=y, r=6, class_="ring")
    said = f"class {k}, born {born}: detected after {median:g} years with {share:.0%} of the seeds, {alarms}"
    dot = tag(
        "circle", tag("title", text(said)), cx=x, cy=y, r=7, class_="hit", fill_opacity=f"{0.35 + 0.65 * share:.2f}"
    )
    number = tag("text", text(f"{median:g}"), x=x, y=y + 4, class_="tick mid on") if median > 0 else ""
    return tag("g", dot, number)
