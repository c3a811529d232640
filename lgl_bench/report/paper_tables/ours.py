"""Our numbers for printed cells, from boards and from parity measurements, and which of several stands.

A row of a board is one of ours if stream, split, track, model, detector, threshold, preset and selection are those of
the printed cell and its budget is `paper`; rows of other budgets are counted, never shown. Both a row and a parity
measurement then are the same computation, so the one with more seeds stands; with equally many the measurement, beside
which the switches were run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lgl_bench.leaderboard.published import BEST
from lgl_bench.leaderboard.table.names import PRINTED, Fact, metric_column
from lgl_bench.report.data.sources import ReportInput
from lgl_bench.report.data.words import without_paths
from lgl_bench.report.parity.measured import BUDGET, Measurement
from lgl_bench.report.parity.printed import METRICS, PrintedCell
from lgl_bench.report.parity.table import ParityRow, compared, parity_table
from lgl_bench.report.parity.verdict import Compared

PARITY = "parity"
"""The source of a parity measurement; that of a row is the name of its board."""
_METHOD = ("backbone", "head", "detector")
# The weights of a year go on from those before, as in the paper; without years there is nothing to go on from.
_RESTARTS = ("", "warm")


@dataclass(frozen=True, slots=True)
class OurCell:
    """Our number for a printed cell.

    Attributes:
        figures: One per printed figure.
        seeds: How many stand behind it.
        backbone: What was run.
        expression: The detector as it was run.
        source: "parity", or the board.
        skipped: Tasks without a value.
        commit: Of the code, abbreviated; "" if it was not recorded.
        versions: Of lgl-bench and the libraries.
        stream_checksum: Of the stream.
        switch: What the published code does differently; "" for ours.
    """

    figures: tuple[Compared, ...]
    seeds: int
    backbone: str
    expression: str
    source: str
    skipped: int
    commit: str
    versions: str
    stream_checksum: str
    switch: str = ""


class OurNumbers:
    """All that is known of printed cells.

    Attributes:
        left_out: Rows that would answer a printed cell, but for their budget: how many of each.
    """

    def __init__(
        self, printed: Sequence[PrintedCell], sources: Iterable[ReportInput], measured: Sequence[Measurement]
    ) -> None:
        self.left_out: Counter[str] = Counter()
        self._rows: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        self._measured: dict[tuple[str, ...], list[ParityRow]] = {}
        self._keys = tuple(next(one.key for one in printed if one.key))
        known = {tuple(one.key.values()) for one in printed if one.key}
        for one in printed:
            if one.threshold:  # of the best model, which the paper does not name
                known |= {self._of_model(one, model) for model in self._models(one, printed)}
        for source in sources:
            self._take(source, known)
        for row in parity_table(measured) if measured else []:
            self._measured.setdefault(row.place, []).append(row)
        self._printed = printed

    def standing(self, one: PrintedCell) -> OurCell | None:
        """The number that stands in a printed cell; None if there is none."""
        found = [_of_parity(row) for row in self._measured.get(one.place, []) if not row.switch and not one.threshold]
        found += [_of_board(row, one) for row in self._candidates(one)]
        # The first of the largest: a measurement, then the board that was named first.
        return max(found, key=lambda ours: ours.seeds, default=None)

    def switched(self, one: PrintedCell) -> list[OurCell]:
        """The cell with each switch that was measured."""
        return [_of_parity(row) for row in self._measured.get(one.place, []) if row.switch and not one.threshold]

    def _take(self, source: ReportInput, known: set[tuple[str, ...]]) -> None:
        for row in source.board.to_dict("records"):
            key = tuple(str(row[name]) for name in self._keys)
            if key not in known or row[Fact.TRUST] == PRINTED or row["restart"] not in _RESTARTS:
                continue
            if row["budget"] == BUDGET:
                self._rows.setdefault(key, []).append({str(name): cell for name, cell in row.items()} | {"of": source})
            else:
                self.left_out[str(row["budget"])] += 1

    def _candidates(self, one: PrintedCell) -> list[dict[str, Any]]:
        if not one.threshold:
            return self._rows.get(tuple(one.key.values()), [])
        models = [self._of_model(one, model) for model in self._models(one, self._printed)]
        rows = [row for key in models for row in self._rows.get(key, [])]
        # The paper applies thresholds to the model with the best AUROC of its stream: here, by our AUROC.
        best = max((_auroc(row) for row in rows), default=None)
        return [row for row in rows if _auroc(row) == best]

    def _models(self, one: PrintedCell, printed: Iterable[PrintedCell]) -> list[Mapping[str, str]]:
        place = (one.cell.stream, one.cell.split)
        return [
            other.key
            for other in printed
            if other.key and other.cell.backbone != BEST and (other.cell.stream, other.cell.split) == place
        ]

    def _of_model(self, one: PrintedCell, model: Mapping[str, str]) -> tuple[str, ...]:
        key = {**one.key, **{name: model[name] for name in _METHOD}}
        return tuple(key[name] for name in self._keys)


def _auroc(row: Mapping[str, Any]) -> float:
    mean = row[metric_column(METRICS["auroc"], "mean")]
    return -1.0 if pd.isna(mean) else float(mean)


def _of_parity(row: ParityRow) -> OurCell:
    return OurCell(
        row.figures,
        row.seeds,
        row.backbone,
        row.expression,
        PARITY,
        row.skipped,
        row.commit,
        _versions(row.lgl_bench, row.torch, row.dgl, row.python),
        row.stream_checksum,
        row.switch,
    )


def _of_board(row: Mapping[str, Any], one: PrintedCell) -> OurCell:
    figures, seeds = [], []
    for metric, paper in one.figures.items():
        mean, std, count = (
            None if pd.isna(value) else float(value)
            for value in (
                row[metric_column(METRICS[metric], "mean")],
                row[metric_column(METRICS[metric], "std")],
                row[metric_column(METRICS[metric], "n_seeds")],
            )
        )
        _, ours, deviation, difference = compared(mean, std, paper)
        figures.append(Compared(metric, paper, ours, deviation, difference))
        seeds.append(int(count or 0))
    failed = row[Fact.FAILED_YEARS]
    return OurCell(
        tuple(figures),
        min(seeds),
        row["backbone"],
        row["detector"],
        without_paths(row["of"].name),
        0 if pd.isna(failed) else int(failed),
        row[Fact.GIT_COMMIT][:7],
        _versions(row[Fact.LGL_BENCH], row[Fact.TORCH], row[Fact.DGL], row[Fact.PYTHON]),
        row["stream_checksum"],
    )


def _versions(lgl_bench: str, torch: str, dgl: str, python: str) -> str:
    return f"lgl-bench {lgl_bench}, torch {torch}, dgl {dgl}, Python {python}"
