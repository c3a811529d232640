"""Switches: what the published code does differently, each a change of one thing in some cells.

They are declared in `benchmarks/parity/published_code.toml`, and their plugins are in the file beside it.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lgl_bench.core.resources import shipped
from lgl_bench.core.toml import read_toml
from lgl_bench.report.parity.cells import GOOD, Cell, paper_expressions, paper_preset

if TYPE_CHECKING:
    from lgl_bench.core.expressions import Expression
    from lgl_bench.plans.paper_presets import Preset

_TRAINING = ("epochs", "lr")


@dataclass(frozen=True, slots=True)
class PresetChange:
    """Parameters of backbone and training that become others.

    Attributes:
        streams: Only on these; on all if there are none.
        backbones: Only of these; of all if there are none.
        set: By name, the value.
        add: By name, what is added.
    """

    streams: tuple[str, ...] = ()
    backbones: tuple[str, ...] = ()
    set: Mapping[str, float] = field(default_factory=dict)
    add: Mapping[str, float] = field(default_factory=dict)

    def __call__(self, preset: Preset, cell: Cell) -> Preset:
        """The preset of a cell with the change."""
        if (self.streams and cell.stream not in self.streams) or (
            self.backbones and cell.backbone not in self.backbones
        ):
            return preset
        added = {name: _value(preset, cell.backbone, name) + more for name, more in self.add.items()}
        values = {**self.set, **added}
        training: dict[str, Any] = {name: value for name, value in values.items() if name in _TRAINING}
        parameters = {name: value for name, value in values.items() if name not in _TRAINING}
        return replace(
            preset,
            backbone={**preset.backbone, **parameters},
            training=replace(preset.training, **training),
        )


def _value(preset: Preset, backbone: str, name: str) -> Any:
    """A parameter of a preset; the default of the backbone if the preset does not say."""
    from lgl_bench.backbones import backbones

    if name in _TRAINING:
        return getattr(preset.training, name)
    default = inspect.signature(backbones.get(backbone)).parameters[name].default
    return preset.backbone.get(name, default)


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing that the published code does differently.

    Attributes:
        name: As the command takes it.
        changes: What it changes, in a few words.
        splits: Of the cells it changes.
        backbones: The same; all if there are none.
        suite: File of the suite that takes the place of the split's own; "" for none.
        models: By name of a backbone, the one that takes its place.
        detectors: By name of a detector, the expression that takes its place.
        presets: What it changes in the parameters of backbone and training.
    """

    name: str
    changes: str
    splits: tuple[str, ...]
    backbones: tuple[str, ...] = ()
    suite: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    detectors: Mapping[str, str] = field(default_factory=dict)
    presets: tuple[PresetChange, ...] = ()

    def applies(self, cell: Cell) -> bool:
        """Whether it changes anything in a cell."""
        if cell.split not in self.splits or (self.backbones and cell.backbone not in self.backbones):
            return False
        if self.detectors:
            return cell.detector in self.detectors
        return self.preset(cell) != paper_preset(cell)

    def model(self, cell: Cell) -> str:
        """The backbone of a cell with the switch."""
        return self.models.get(cell.backbone, cell.backbone)

    def preset(self, cell: Cell) -> Preset:
        """How the model of a cell is trained with the switch."""
        preset = paper_preset(cell)
        for change in self.presets:
            preset = change(preset, cell)
        return preset

    def expressions(self, cell: Cell) -> dict[str, Expression]:
        """The rows of a cell with their expressions under the switch."""
        found = paper_expressions(cell)
        if cell.detector not in self.detectors:
            return found
        from lgl_bench.core.expressions import parse

        base = _with_parameters(parse(self.detectors[cell.detector]), found[cell.detector])
        return {name: replace(one, arguments=(base,)) if name == GOOD else base for name, one in found.items()}


def _with_parameters(expression: Expression, of: Expression) -> Expression:
    """An expression whose innermost part has the parameters of another one."""
    if not expression.arguments:
        return replace(expression, parameters=of.parameters)
    return replace(expression, arguments=tuple(_with_parameters(inner, of) for inner in expression.arguments))


@dataclass(frozen=True, slots=True)
class Note:
    """A note on the printed cells of a backbone."""

    split: str
    backbone: str
    text: str


@dataclass(frozen=True, slots=True)
class PublishedCode:
    """All that is declared of the published code.

    Attributes:
        plugin: The file with the plugins.
        switches: By name.
        notes: On printed cells.
    """

    plugin: Path
    switches: dict[str, Switch]
    notes: tuple[Note, ...]

    def untried(self, cell: Cell, measured: Collection[str]) -> tuple[str, ...]:
        """The switches that change a cell and are not among those it was measured with."""
        return tuple(name for name, switch in self.switches.items() if name not in measured and switch.applies(cell))

    def note(self, split: str, backbone: str) -> str:
        """The note on a printed cell; "" if there is none."""
        return "; ".join(note.text for note in self.notes if (note.split, note.backbone) == (split, backbone))


def parity_folder() -> Path:
    """The folder with the declarations, the plugins and the suites of the parity report."""
    return shipped("benchmarks") / "parity"


@cache
def published_code() -> PublishedCode:
    """What is declared of the published code, read once: the file comes with the package."""
    path = parity_folder() / "published_code.toml"
    fields = read_toml(path, "the declarations of the published code")
    switches = [_switch(one) for one in fields["switches"]]
    notes = tuple(Note(**one) for one in fields["notes"])
    return PublishedCode(path.with_suffix(".py"), {one.name: one for one in switches}, notes)


def _switch(fields: dict[str, Any]) -> Switch:
    presets = tuple(PresetChange(**_tuples(one)) for one in fields.pop("presets", []))
    return Switch(**_tuples(fields), presets=presets)


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
