"""Leaderboard rows as the report shows them: ranked within what may be compared, ties marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.grammar import without_values
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.boards import settled
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.leaderboard.compare.matching import original_of_twin
from lgl_bench.leaderboard.compare.standing import BEST, INCONCLUSIVE, TIE, UNRANKED, word_of
from lgl_bench.leaderboard.compare.testing import Tester
from lgl_bench.leaderboard.floor import label
from lgl_bench.leaderboard.over_base import OverBase, over_base
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.strategy_names import shown_strategy
from lgl_bench.leaderboard.table.names import Fact
from lgl_bench.leaderboard.table.rows import figures
from lgl_bench.leaderboard.table.schema import PLACE, VARIANT, Figures
from lgl_bench.metrics.ranks import ranks_by
from lgl_bench.report.data.curves import Curve, curves_of
from lgl_bench.report.data.distinct import telling
from lgl_bench.report.data.metrics import DECISIONS, METRICS
from lgl_bench.report.data.names import slug
from lgl_bench.report.data.sources import ReportInput

TWIN_MARK = "synthetic twin"


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows may be compared: one stream, cut one way. `label` distinguishes it from the other places."""

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
    def twin(self) -> bool:
        """Whether the stream is synthetic, and stands in for a real one."""
        return original_of_twin(self.stream) != ""

    @property
    def title(self) -> str:
        """The label, with a mark if the stream is synthetic: what stands above every drawing."""
        return f"{self.label} ({TWIN_MARK})" if self.twin else self.label


@dataclass(frozen=True, slots=True, eq=False)
class ShownRow:
    """A method on a stream.

    Attributes:
        place: Among which rows it is ranked.
        figures: Every metric by name.
        rank: 1 is best; None if there is none, for the reason in `unranked_reason`.
        standing: As `leaderboard.ranking` says.
        above_floor: Whether it beats the floor beyond noise: yes, no, floor, untested.
        memory_vertices: Most vertices that its strategy remembered.
        memory_mb: Most that its strategy kept.
        shown_strategy: Its strategy, if the rows of the report differ in it; otherwise "".
        over_base: What it adds to the detector it wraps; None if it is no GOOD, or the other was not run.
        curve: Its values over the years; None if there are none.
        source: Position of the input it is from.
    """

    place: Place
    strategy: str
    history: str
    restart: str
    backbone: str
    head: str
    detector: str
    threshold: str
    preset: str
    select: str
    chosen: str
    trials: int | None
    figures: Mapping[str, Figures]
    fit_seconds: float | None
    peak_memory_mb: float | None
    n_new: float | None
    facts: Mapping[str, str]
    curve: Curve | None
    source: int
    rank: int | None = None
    standing: str = UNRANKED
    unranked_reason: str = ""
    above_floor: str = ""
    memory_vertices: int | None = None
    memory_mb: float | None = None
    shown_strategy: str = ""
    over_base: OverBase | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """Its cells `KEY`, as texts."""
        place = dict(zip(PLACE, self.place.values, strict=True))
        return tuple(str(place[name] if name in place else getattr(self, name)) for name in KEY)

    @property
    def method(self) -> tuple[str, ...]:
        """Backbone and the detector's names, whose parameters may differ from stream to stream; and the strategy."""
        both = self.backbone, without_values(self.detector)
        return (*both, self.shown_strategy) if self.shown_strategy else both

    @property
    def name(self) -> str:
        """Detector, backbone and strategy, as charts show them."""
        backbone, detector, *strategy = self.method
        return ", ".join([detector, backbone, *strategy])

    @property
    def word(self) -> str:
        """Its standing without the number of seeds it lacks."""
        return word_of(self.standing)

    @property
    def differs_from_best(self) -> bool:
        """Whether it differs significantly from the best; also true if nothing was tested."""
        return self.word not in (TIE, INCONCLUSIVE)

    @property
    def label(self) -> str:
        """Its role: floor, reference, upper bound; "" for a method."""
        return label(self.detector, self.threshold)

    @property
    def page(self) -> str:
        """File name of the page of its method."""
        return slug(*self.method)

    @property
    def ranks_by(self) -> str:
        """The metric that ranks it."""
        return ranks_by(self.place.values[PLACE.index("protocol")], self.threshold)

    @property
    def detector_ranks_by(self) -> str:
        """The metric that ranks its detector, whatever the threshold."""
        return ranks_by(self.place.values[PLACE.index("protocol")], "")


def report_rows(sources: Sequence[ReportInput], data_dir: Path | None = None) -> list[ShownRow]:
    """Every row of every input, place by place, real streams before twins, best first; detection before decisions.

    Ranks, standings and what is above the floor are those of `leaderboard show`.

    Args:
        sources: The inputs.
        data_dir: Where streams are kept, whose labels tests with answers need.
    """
    if not any(len(source.board) for source in sources):
        return []
    pooled = pd.concat([source.board.assign(board=at) for at, source in enumerate(sources)], ignore_index=True)
    runs = [
        Run(source.folder) if source.folder is not None and len(source.years) else source.tests for source in sources
    ]
    tester = Tester(data_dir)
    order = ranked(settled(pooled, runs, tester), runs=runs, tester=tester)
    gains = over_base(order, runs, tester)
    tester.keep()
    places, curves = _places(sources), [curves_of(source.years) for source in sources]
    found = [
        _row({str(name): value for name, value in record.items()}, places, curves, gains.get(at))
        for at, record in enumerate(order.to_dict("records"))
    ]
    if len({row.strategy for row in found if row.strategy}) > 1:
        found = [replace(row, shown_strategy=shown_strategy(row.strategy)) for row in found]
    return sorted(found, key=_in_order)


def _in_order(row: ShownRow) -> tuple[Any, ...]:
    place = row.place.twin, row.place.label, row.place.values, bool(row.threshold)
    return *place, row.rank is None, row.rank or 0, row.standing != BEST, row.detector, row.backbone, row.strategy


_SAID = tuple(PLACE.index(name) for name in ("suite", "split", "track", "protocol"))
"""What is said of a place without the name of the column, and before anything else."""
_USUAL = "inductive"


def _places(sources: Sequence[ReportInput]) -> dict[tuple[str, ...], Place]:
    """Places with labels: the stream, and whatever else distinguishes it from other places on that stream."""
    keys = {key for source in sources for key in source.board[list(PLACE)].itertuples(index=False, name=None)}
    at = PLACE.index("stream")
    order = (*_SAID, *(i for i in range(len(PLACE)) if i not in (*_SAID, at)))
    found = {}
    for key in keys:
        rivals = [other for other in keys if other[at] == key[at]]
        # The oracle's rows are a place of their own, which says so; the others need not say that they are not.
        parts = [_said(i, key[i]) for i in telling(rivals, order) if key[i] != _USUAL]
        found[key] = Place(key, " · ".join([key[at], *parts]))
    return found


def _said(at: int, cell: str) -> str:
    return cell if at in _SAID and cell else f"{PLACE[at].replace('_', ' ')} {cell[:12] or 'unknown'}"


def _row(
    record: dict[str, Any],
    places: dict[tuple[str, ...], Place],
    curves: Sequence[dict[tuple[str, ...], Curve]],
    gain: OverBase | None,
) -> ShownRow:
    source = int(record["board"])
    return ShownRow(
        place=places[tuple(record[name] for name in PLACE)],
        **{name: record[name] for name in VARIANT},
        chosen=record[Fact.CHOSEN],
        trials=_count(record[Fact.TUNING_TRIALS]),
        figures={metric: _figures(record, metric) for metric in METRICS},
        fit_seconds=_number(record[Fact.FIT_SECONDS]),
        peak_memory_mb=_number(record[Fact.PEAK_MEMORY_MB]),
        memory_vertices=_count(record[Fact.MEMORY_VERTICES]),
        memory_mb=_number(record[Fact.MEMORY_MB]),
        n_new=_number(record[Fact.N_NEW]),
        facts={name: record[name] for name in (Fact.TRUST, Fact.SUBMITTER, Fact.DEVICE, Fact.CREATED_AT)},
        curve=curves[source].get(tuple(record[name] for name in KEY)),
        source=source,
        rank=None if pd.isna(record["rank"]) else int(record["rank"]),
        standing=record["standing"],
        unranked_reason=record["unranked_reason"],
        above_floor=record[Fact.ABOVE_FLOOR],
        over_base=gain,
    )


def _figures(record: dict[str, Any], metric: str) -> Figures:
    """A metric of a row; without a mean it has a reason, whatever the table says."""
    found = figures(record, metric)
    mean, std, lo, hi = (_number(value) for value in (found.mean, found.std, found.lo, found.hi))
    reason = "" if mean is not None else found.reason
    if mean is None and not reason:
        needs = metric in DECISIONS and metric != "accuracy" and not record["threshold"]
        reason = "no threshold, so no decisions" if needs else "the table has no reason"
    n_seeds, n_years = (_count(count) for count in (found.n_seeds, found.n_years))
    return Figures.model_construct(mean=mean, std=std, lo=lo, hi=hi, n_seeds=n_seeds, n_years=n_years, reason=reason)


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _count(value: float | None) -> int | None:
    return None if value is None or math.isnan(value) else int(value)
