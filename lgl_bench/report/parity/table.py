"""The parity table: what the paper prints, what was measured, and the difference; one row per cell and switch."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.files import writing
from lgl_bench.plans.paper_presets import good_preset
from lgl_bench.report.parity.arms import scored_as
from lgl_bench.report.parity.cells import GOOD, TRANSDUCTIVE, Cell
from lgl_bench.report.parity.measured import Measurement
from lgl_bench.report.parity.printed import printed_cells
from lgl_bench.report.parity.switches import published_code
from lgl_bench.report.parity.verdict import Compared

_Figures = tuple[float | None, float | None, float | None, float | None]
_Printed = dict[tuple[str, ...], tuple[float | None, float | None]]


@dataclass(frozen=True, slots=True)
class ParityRow:
    """A cell, without or with a switch.

    Attributes:
        expression: The detector as it was run.
        seeds: How many were measured.
        accuracy_std: Standard deviation over seeds; None for one seed.
        accuracy_difference: Ours minus the paper's; None if it prints none.
        commit: Those of the code that measured it, abbreviated.
        skipped: Tasks without a value.
        fit_seconds: Of all seeds.
    """

    stream: str
    split: str
    backbone: str
    detector: str
    head: str
    switch: str
    expression: str
    seeds: int
    accuracy_paper: float | None
    accuracy_ours: float | None
    accuracy_std: float | None
    accuracy_difference: float | None
    auroc_paper: float | None
    auroc_ours: float | None
    auroc_std: float | None
    auroc_difference: float | None
    note: str
    commit: str
    skipped: int
    fit_seconds: float
    lgl_bench: str
    torch: str
    dgl: str
    python: str
    stream_checksum: str

    @property
    def cell(self) -> Cell:
        """The model kind on its stream."""
        return Cell(self.stream, self.split, self.backbone, self.head)

    @property
    def place(self) -> tuple[str, str, str, str]:
        """The cell: stream, split, backbone and detector."""
        return self.stream, self.split, self.backbone, self.detector

    @property
    def figures(self) -> tuple[Compared, ...]:
        """What the paper prints of it, beside what was measured."""
        both = (
            ("accuracy", self.accuracy_paper, self.accuracy_ours, self.accuracy_std, self.accuracy_difference),
            ("auroc", self.auroc_paper, self.auroc_ours, self.auroc_std, self.auroc_difference),
        )
        return tuple(Compared(metric, paper, *rest) for metric, paper, *rest in both if paper is not None)


def parity_table(measured: Iterable[Measurement]) -> list[ParityRow]:
    """One row per cell and switch: paper, measured, deviation over seeds, difference."""
    printed = _printed()
    order = list(published_code().switches)
    cells: dict[tuple[str | int, ...], list[Measurement]] = {}
    for row in measured:
        # Ours before its switches, these in the order they are declared in.
        place = order.index(row.switch) + 1 if row.switch else 0
        cells.setdefault((row.stream, row.split, row.backbone, row.detector, place), []).append(row)
    rows = [_row(members, printed) for _, members in sorted(cells.items())]
    if not rows:
        raise UsageError("there is no cell to show: every task was skipped, or no run has ended")
    return rows


def _printed() -> _Printed:
    """Accuracy and AUROC that the paper prints, by stream, split, backbone and detector."""
    return {
        (one.cell.stream, one.cell.split, one.cell.backbone, one.expression): (
            one.figures.get("accuracy"),
            one.figures.get("auroc"),
        )
        for one in printed_cells()
        if not one.threshold
    }


def _row(members: Sequence[Measurement], printed: _Printed) -> ParityRow:
    seeds: dict[int, list[Measurement]] = {}
    for row in members:
        seeds.setdefault(row.seed, []).append(row)
    first = members[0]
    cell, detector = first.cell, first.detector
    ours = "" if cell.split == TRANSDUCTIVE else scored_as(cell, None).get(detector, "")
    accuracy_paper, auroc_paper = printed.get((cell.stream, cell.split, cell.backbone, ours), (None, None))
    accuracy = _mean_and_deviation([_mean(row.accuracy for row in folds) for folds in seeds.values()])
    auroc = _mean_and_deviation([_mean(row.auroc for row in folds) for folds in seeds.values()])
    return ParityRow(
        cell.stream,
        cell.split,
        cell.backbone,
        detector,
        cell.head,
        first.switch,
        first.expression,
        len(seeds),
        *compared(*accuracy, accuracy_paper),
        *compared(*auroc, auroc_paper),
        _note(first),
        " ".join(sorted({row.commit[:7] for row in members} - {""})),
        sum(bool(row.skipped) for row in members),
        round(sum(row.fit_seconds for row in members), 1),
        first.lgl_bench,
        first.torch,
        first.dgl,
        first.python,
        first.stream_checksum,
    )


def _note(row: Measurement) -> str:
    base, _ = good_preset(row.stream, row.split, row.backbone)
    notes = [f"over {base}" if row.detector == GOOD else "", published_code().note(row.split, row.backbone)]
    return "; ".join(filter(None, notes))


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def _mean_and_deviation(by_seed: Sequence[float | None]) -> tuple[float | None, float | None]:
    defined = [value for value in by_seed if value is not None]
    return _mean(defined), float(np.std(defined, ddof=1)) if len(defined) > 1 else None


def compared(mean: float | None, deviation: float | None, paper: float | None) -> _Figures:
    """What the paper prints, what was measured, its deviation, and the difference."""
    difference = mean - paper if mean is not None and paper is not None else None
    return paper, _rounded(mean), _rounded(deviation), _rounded(difference)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def write_table(rows: Sequence[ParityRow], path: Path) -> None:
    """The table as CSV, written whole."""
    with writing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(ParityRow)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
