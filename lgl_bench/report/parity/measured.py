"""What was measured of the paper's cells: one row per cell, switch, seed and fold or year, one CSV.

The rows come from the year rows of a run folder, and from the file itself: what was measured earlier, by code or in a
folder that is no more, stays until a run has the same cell, switch and seed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import DataError
from lgl_bench.core.files import clear_leftovers, writing
from lgl_bench.grading.year_table import YEARS_FILE, read_years
from lgl_bench.grading.years import NOT_RUN
from lgl_bench.leaderboard.folder import read_provenance
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.report.parity.arms import model_of, preset_name, preset_of, scored_as
from lgl_bench.report.parity.cells import BACKBONES, TRANSDUCTIVE, Cell, cells_of
from lgl_bench.report.parity.switches import Switch, published_code

FILE = "measured.csv"
BUDGET = "paper"
"""Of every measurement."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Accuracy and AUROC of one task.

    Attributes:
        split: Of the stream, or "transductive".
        detector: By name, as the paper has it; `expression` is what was run.
        switch: What the published code does differently; "" for ours.
        time: The year of the task.
        fold: The class that was left out; "" if there is none.
        n_new: Scored vertices of new classes.
        skipped: Why there is no value; "" if there is.
        parameters: Of backbone and training.
        commit: Of the code that measured it; "" if it was not recorded.
    """

    stream: str
    split: str
    backbone: str
    head: str
    detector: str
    switch: str
    seed: int
    time: int
    fold: str
    accuracy: float | None
    auroc: float | None
    n_new: int
    skipped: str
    fit_seconds: float
    expression: str
    parameters: str
    commit: str
    created_at: str
    lgl_bench: str
    torch: str
    dgl: str
    python: str
    stream_checksum: str

    @property
    def cell(self) -> Cell:
        """The cell it belongs to."""
        return Cell(self.stream, self.split, self.backbone, self.head)

    @property
    def run(self) -> tuple[Cell, str, str, int]:
        """What a run measures as a whole: cell, detector, switch and seed."""
        return self.cell, self.detector, self.switch, self.seed


_NUMBERS = {"seed": int, "time": int, "n_new": int, "fit_seconds": float, "accuracy": float, "auroc": float}
_UNDEFINED = ("accuracy", "auroc")
_MADE_WITH = {"commit", "created_at", "lgl_bench", "torch", "dgl", "python"}
_said = attrgetter(*(one.name for one in fields(Measurement) if one.name not in _MADE_WITH))
"""All of a measurement but what it was made with."""


def read_measured(path: Path) -> list[Measurement]:
    """Measurements from their file; none if there is no file."""
    if not path.is_file():
        return []
    names = [one.name for one in fields(Measurement)]
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != names:
            raise DataError(f"{path} has other columns than measurements have; remove it or take it from its commit")
        try:
            return [Measurement(**{name: _typed(name, row[name]) for name in names}) for row in reader]
        except (ValueError, TypeError) as error:
            raise DataError(f"{path}, line {reader.line_num}: {error}") from error


def _typed(name: str, text: str) -> Any:
    if name not in _NUMBERS:
        return text
    return None if not text and name in _UNDEFINED else _NUMBERS[name](text)


def write_measured(rows: Sequence[Measurement], path: Path) -> None:
    """Measurements as CSV, written whole."""
    clear_leftovers(path)
    with writing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(Measurement)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def merged(earlier: Iterable[Measurement], later: Iterable[Measurement]) -> list[Measurement]:
    """Both, in order; of a cell, detector, switch and seed that both have, the later ones.

    A row that another command has graded again, of the same fit with the same seconds, is the earlier one: it stays
    with the commit that measured it.
    """
    before = list(earlier)
    known = {_said(row): row for row in before}
    fresh = [known.get(_said(row), row) for row in later]
    measured = {row.run for row in fresh}
    together = [*(row for row in before if row.run not in measured), *fresh]
    return sorted(together, key=lambda row: (*_run_order(row), row.time, _number(row.fold)))


def _run_order(row: Measurement) -> tuple[str | int, ...]:
    """What distinguishes runs, in the order of the file."""
    return row.stream, row.split, row.backbone, row.head, row.detector, row.switch, row.seed


def _number(fold: str) -> int:
    return int(fold) if fold.isdigit() else -1


def measured_in(folder: Path) -> list[Measurement]:
    """What a run folder has graded of the paper's cells, seeds that are finished; nothing if no run has ended there."""
    if not (folder / YEARS_FILE).is_file():
        return []
    years = read_years(folder)
    if years.empty:
        return []
    years = years[(years["budget"] == BUDGET) & (years["threshold"] == "") & (years["select"] == "preset")]
    if years.empty:
        return []
    made = read_provenance(folder)
    found: dict[tuple[str, ...], pd.DataFrame] = {
        tuple(map(str, key)) if isinstance(key, tuple) else (str(key),): part
        for key, part in years.groupby(["stream", "split", "track", "backbone", "preset", "detector"], sort=False)
    }
    return [row for cell, switch in _run_cells(years) for row in _cell_rows(cell, switch, found, made)]


def _run_cells(years: pd.DataFrame) -> Iterator[tuple[Cell, Switch | None]]:
    """Every cell that the streams and splits of year rows may have, without and with each switch."""
    places = years[["stream", "split"]].drop_duplicates().itertuples(index=False, name=None)
    cells = dict.fromkeys(cell for stream, split in places for cell in cells_of(stream, split, BACKBONES))
    for cell in cells:
        yield cell, None
        yield from ((cell, switch) for switch in published_code().switches.values() if switch.applies(cell))


def _cell_rows(
    cell: Cell, switch: Switch | None, found: dict[tuple[str, ...], pd.DataFrame], made: dict[str, str]
) -> Iterator[Measurement]:
    track = TRANSDUCTIVE if cell.split == TRANSDUCTIVE else "inductive"
    place = (cell.stream, cell.planned_split, track, model_of(cell, switch), preset_name(cell, switch))
    for detector, expression in scored_as(cell, switch).items():
        rows = found.get((*place, expression))
        if rows is None:
            continue
        # A seed that was interrupted has left-out classes that are yet to come: their mean would be another number.
        begun = rows.loc[rows["reason"] == NOT_RUN, "seed"]
        for row in rows[~rows["seed"].isin(begun)].itertuples(index=False):
            yield _measurement(cell, switch, detector, row, made)


def _measurement(cell: Cell, switch: Switch | None, detector: str, row: Any, made: dict[str, str]) -> Measurement:
    check = cell.split == TRANSDUCTIVE
    return Measurement(
        cell.stream,
        cell.split,
        cell.backbone,
        cell.head,
        detector,
        switch.name if switch else "",
        int(row.seed),
        int(row.time),
        row.fold,
        _defined(row.accuracy),
        None if check else _defined(row.auroc),
        0 if pd.isna(row.n_new) else int(row.n_new),
        "" if row.status == "ok" else row.reason,
        0.0 if pd.isna(row.fit_seconds) else float(row.fit_seconds),
        "" if check else row.detector,
        parameters_text(preset_of(cell, switch)),
        made["git_commit"],
        made["created_at"],
        made["lgl_bench"],
        made["torch"],
        made["dgl"],
        made["python"],
        row.stream_checksum,
    )


def _defined(value: float) -> float | None:
    return None if pd.isna(value) else float(value)


def parameters_text(preset: Preset) -> str:
    """Parameters of backbone and training on one line.

    >>> from lgl_bench.core.types import TrainingParameters
    >>> parameters_text(Preset("mine", {"layers": 2, "fanout": (25, 5)}, TrainingParameters(200, 0.01)))
    'layers=2 fanout=25,5 epochs=200 lr=0.01'
    """
    values = {**preset.backbone, "epochs": preset.training.epochs, "lr": preset.training.lr}
    shown = {name: ",".join(map(str, value)) if isinstance(value, tuple) else value for name, value in values.items()}
    return " ".join(f"{name}={value}" for name, value in shown.items())
