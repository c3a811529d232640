"""Arms: cells of the paper that one plan runs together, as the paper says or with one switch.

An arm is an ordinary run: a suite with its axes replaced, the paper budget, and a preset file if parameters are others
than the paper's row says. Its rows are told apart by the name of that file, which is their column `preset`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors, head_of
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.plans.preset_entries import DetectorEntry, FitEntry
from lgl_bench.plans.preset_file import write_presets
from lgl_bench.report.parity.cells import GOOD, TRANSDUCTIVE, Cell, paper_expressions, paper_preset
from lgl_bench.report.parity.switches import Switch, parity_folder

_SUITES = {"planetoid": "planetoid", "temporal": "temporal"}
_CHECK_PRESET = "random-split"
# The transductive check looks at classes alone, but every row of a board has a detector.
_CHECK_DETECTOR = "msp"


def preset_of(cell: Cell, switch: Switch | None) -> Preset:
    """How the model of a cell is trained."""
    return switch.preset(cell) if switch else paper_preset(cell)


def preset_name(cell: Cell, switch: Switch | None) -> str:
    """What the rows of a cell carry in their column `preset`."""
    if switch:
        return f"published-{switch.name}"
    return _CHECK_PRESET if cell.split == TRANSDUCTIVE else paper_preset(cell).name


def model_of(cell: Cell, switch: Switch | None) -> str:
    """What the rows of a cell carry in their column `backbone`."""
    return switch.model(cell) if switch else cell.backbone


def scored_as(cell: Cell, switch: Switch | None) -> dict[str, str]:
    """The rows of a cell with what they carry in their column `detector`."""
    if cell.split == TRANSDUCTIVE:
        return {cell.detector: _CHECK_DETECTOR}
    found = switch.expressions(cell) if switch else paper_expressions(cell)
    return {name: str(expression) for name, expression in found.items()}


@dataclass(frozen=True, slots=True)
class Arm:
    """Cells that are run together.

    Attributes:
        switch: What the published code does differently; None for what the paper says.
        split: Of all cells.
        cells: Every combination of their streams, backbones and heads, as a plan runs all of them.
    """

    switch: Switch | None
    split: str
    cells: tuple[Cell, ...]

    @property
    def suite(self) -> str:
        """A suite by name, or its file."""
        if self.switch and self.switch.suite:
            return str(parity_folder() / self.switch.suite)
        if self.split == TRANSDUCTIVE:
            return str(parity_folder() / "transductive.toml")
        return _SUITES.get(self.split, "static")

    @property
    def axes(self) -> dict[str, Any]:
        """What is replaced of the suite."""
        split = self.cells[0].planned_split
        return {
            "streams": tuple(dict.fromkeys(cell.stream for cell in self.cells)),
            "backbones": tuple(dict.fromkeys(model_of(cell, self.switch) for cell in self.cells)),
            "detectors": tuple(dict.fromkeys(text for cell in self.cells for text in self._detectors(cell))),
            "thresholds": ("none",),
            "select": "preset",
            "split": () if split == "temporal" else (split,),
        }

    def _detectors(self, cell: Cell) -> list[str]:
        """Detectors without parameters, which differ from cell to cell and come from presets."""
        if self.split == TRANSDUCTIVE:
            return [_CHECK_DETECTOR]
        replaced = self.switch.detectors if self.switch else {}
        base = replaced.get(cell.detector, cell.detector)
        return [base, f"{GOOD}({base})"] if GOOD in paper_expressions(cell) else [base]

    def write_presets(self, folder: Path) -> Path | None:
        """Writes the preset file of the arm; None if the paper's own parameters are taken."""
        if self.switch is None and self.split != TRANSDUCTIVE:
            return None
        name = preset_name(self.cells[0], self.switch)
        path = folder / f"{name}.toml"
        write_presets(path, [self._entry(cell) for cell in self.cells], name)
        return path

    def _entry(self, cell: Cell) -> FitEntry:
        preset, expressions = preset_of(cell, self.switch), scored_as(cell, self.switch)
        replaced = bool(self.switch and self.switch.detectors)
        return FitEntry(
            stream=cell.stream,
            split=cell.planned_split,
            backbone=model_of(cell, self.switch),
            head=head_of(build(parse(expressions[cell.detector]), detectors)),
            epochs=preset.training.epochs,
            lr=preset.training.lr,
            parameters=preset.backbone,
            detectors=tuple(DetectorEntry(expression=text) for text in expressions.values()) if replaced else (),
        )


def arms_of(cells: Iterable[Cell], switch: Switch | None = None) -> list[Arm]:
    """The arms of some cells and of no others: as the paper says, or with a switch, those that it changes."""
    heads: dict[tuple[str, str, str], list[str]] = {}
    for cell in cells:
        if switch is None or switch.applies(cell):
            heads.setdefault((cell.split, cell.stream, cell.backbone), []).append(cell.head)
    backbones: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (split, stream, backbone), found in heads.items():
        backbones.setdefault((split, stream, tuple(found)), []).append(backbone)
    streams: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (split, stream, own), found in backbones.items():
        streams.setdefault((split, tuple(found), own), []).append(stream)
    return [
        Arm(switch, split, tuple(Cell(stream, split, *model) for stream in members for model in product(named, own)))
        for (split, named, own), members in streams.items()
    ]
