"""Preset files: tuned parameters that `run --preset FILE` takes, one TOML.

    name = "mine"                  a column of the leaderboard

    [[fits]]                       one for each stream, split, backbone and head
    stream = "dblp-easy"
    split = "temporal"
    backbone = "gcn"
    head = "softmax"
    epochs = 200
    lr = 0.01
    parameters = { layers = 2, hidden = 128, dropout = 0.5 }
    studies = { tune-4f0c = 50 }   trials of every search that was made for this entry
    detectors = [ { expression = "odin(eps=0.05,temperature=1000.0)" } ]

Searches add up: an entry that is tuned again keeps the trials of the search before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from lgl_bench.backbones import MAX_HIDDEN
from lgl_bench.core.errors import DataError, UsageError, quoted
from lgl_bench.core.expressions import Constant, Expression, parse
from lgl_bench.core.files import clear_leftovers, locked, write_text
from lgl_bench.core.toml import LONGEST_PATH, read_toml
from lgl_bench.core.types import TrainingParameters
from lgl_bench.core.validation import Flag, Line, Number, Whole, Word, first_problem
from lgl_bench.plans.paper_presets import Preset

_STRICT = ConfigDict(extra="forbid", frozen=True)
_MAX_ENTRIES = 10_000
_MAX_EPOCHS = 1_000_000
# What a budget caps must be a number that can be capped.
_COUNTS = ("hidden", "layers", "heads", "r")
_SHARES = ("dropout", "attn_dropout")
_Count: TypeAlias = Annotated[Whole, Field(ge=1)]
_Parameter: TypeAlias = Flag | Whole | Number | Line | tuple[Whole, ...]


class DetectorEntry(BaseModel):
    """A detector with the parameters that were chosen for it on a fit.

    Attributes:
        expression: With every parameter given.
        auroc: On the validation task, if it has new vertices.
        candidates: Parameter settings that were looked at in each trial.
    """

    model_config = _STRICT

    expression: Line
    auroc: Number | None = None
    candidates: _Count = 1

    @field_validator("expression")
    @classmethod
    def _readable(cls, text: str) -> str:
        try:
            return str(parse(text))
        except UsageError as error:
            raise ValueError(str(error)) from error

    @property
    def detector(self) -> str:
        """Names alone, without parameters: `good(odin)`."""
        return str(skeleton(parse(self.expression)))


class Tuned(BaseModel):
    """How an entry came about."""

    model_config = _STRICT

    metric: Literal["accuracy", "auroc"]
    value: Number
    seeds: _Count
    budget: Line
    search: Literal["grid", "tpe"]
    protocol: Line
    checksum: Line
    lgl_bench: Line


class FitEntry(BaseModel):
    """Training parameters for (stream, split, backbone, head), and detectors tuned on that fit.

    Attributes:
        parameters: Of the backbone.
        studies: Trials, completed or pruned, of each search that was made for this entry.
        tuned: How the parameters were found; absent if they were written by hand.
        detectors: One for each detector.
    """

    model_config = _STRICT

    stream: Line
    split: Line
    backbone: Line
    head: Line
    epochs: _Count = Field(le=_MAX_EPOCHS)
    lr: Number = Field(gt=0, le=1e30)
    parameters: dict[Word, _Parameter] = {}
    studies: dict[Line, Annotated[Whole, Field(ge=0)]] = {}
    tuned: Tuned | None = None
    detectors: tuple[DetectorEntry, ...] = ()

    @field_validator("parameters")
    @classmethod
    def _can_be_capped(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        for name in _COUNTS:
            value = parameters.get(name, 1)
            if type(value) is not int or not 1 <= value <= MAX_HIDDEN:
                raise ValueError(f"{name} = {quoted(value)}: expected a whole number from 1 to {MAX_HIDDEN:,}")
        for name in _SHARES:
            value = parameters.get(name, 0)
            if type(value) not in (int, float) or not 0 <= value <= 1:
                raise ValueError(f"{name} = {quoted(value)}: expected a number from 0 to 1")
        return parameters

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the entry is for."""
        return self.stream, self.split, self.backbone, self.head

    @property
    def trials(self) -> int:
        """Trials behind the entry."""
        return sum(self.studies.values())


class PresetFile(BaseModel):
    """A whole file.

    Attributes:
        name: What rows that use it carry in their `preset` column.
        fits: One entry for each stream, split, backbone and head.
    """

    model_config = _STRICT

    name: Word
    fits: tuple[FitEntry, ...] = Field(default=(), max_length=_MAX_ENTRIES)

    @field_validator("name")
    @classmethod
    def _own(cls, name: str) -> str:
        if name.strip().lower().startswith("paper"):
            raise ValueError(f"'{name}' would pass for the paper's own preset; choose another")
        return name

    @model_validator(mode="after")
    def _once(self) -> Self:
        seen: set[tuple[str, ...]] = set()
        for entry in self.fits:
            on = entry.key[:3]
            for key in [entry.key, *((*on, "detector", detector.detector) for detector in entry.detectors)]:
                if key in seen:
                    raise ValueError(f"{', '.join(key)} is there twice")
                seen.add(key)
        return self

    @property
    def trials(self) -> int:
        """Trials behind all entries."""
        return sum(entry.trials for entry in self.fits)

    def entry(self, stream: str, split: str, backbone: str, head: str) -> FitEntry | None:
        """The entry of a fit; None if the file has none."""
        wanted = stream, split, backbone, head
        return next((entry for entry in self.fits if entry.key == wanted), None)

    def fit(self, stream: str, split: str, backbone: str, head: str) -> Preset | None:
        """Training parameters of a fit; None if the file has none."""
        entry = self.entry(stream, split, backbone, head)
        if entry is None:
            return None
        return Preset(self.name, dict(entry.parameters), TrainingParameters(entry.epochs, entry.lr))

    def trials_of(self, stream: str, split: str, backbone: str, head: str) -> int:
        """Trials behind a fit; 0 if the file has none."""
        entry = self.entry(stream, split, backbone, head)
        return entry.trials if entry else 0

    def detector(self, stream: str, split: str, backbone: str, detector: str) -> dict[str, Constant] | None:
        """Parameters of a detector, by name or as `good(odin)`; None if the file has none."""
        found = self._chosen(stream, split, backbone, detector)
        return None if found is None else dict(found.parameters)

    def fill(self, expression: Expression, stream: str, split: str, backbone: str) -> Expression:
        """The expression with what the file says of it; values that are given stay.

        What is tuned for the whole, `good(odin)`, comes before what is tuned for a part, `odin`.
        """
        found = self._chosen(stream, split, backbone, str(skeleton(expression)))
        if found is not None:
            return _merge(expression, found)
        arguments = tuple(self.fill(argument, stream, split, backbone) for argument in expression.arguments)
        return Expression(expression.name, arguments, expression.parameters)

    def _chosen(self, stream: str, split: str, backbone: str, detector: str) -> Expression | None:
        for entry in self.fits:
            if entry.key[:3] == (stream, split, backbone):
                for choice in entry.detectors:
                    if choice.detector == detector:
                        return parse(choice.expression)
        return None


def skeleton(expression: Expression) -> Expression:
    """An expression without its named values.

    >>> str(skeleton(parse("good(odin(eps=0.1), alpha=0.5)")))
    'good(odin)'
    """
    return Expression(expression.name, tuple(skeleton(argument) for argument in expression.arguments))


def _merge(given: Expression, found: Expression) -> Expression:
    arguments = tuple(_merge(*pair) for pair in zip(given.arguments, found.arguments, strict=True))
    return Expression(
        given.name, arguments, tuple(sorted({**dict(found.parameters), **dict(given.parameters)}.items()))
    )


def load_presets(path: Path) -> PresetFile:
    """A preset file, checked."""
    fields = read_toml(path, "the preset file", missing=f"'lgl-bench tune --out {path}' makes one")
    return _checked(fields, path)


def check_target(path: Path, name: str | None = None) -> None:
    """Raises if entries could not be added to a file under that name."""
    old = load_presets(path) if path.exists() else None
    _checked({"name": name or (old.name if old else path.stem)}, path)


def write_presets(path: Path, entries: Sequence[FitEntry], name: str | None = None) -> PresetFile:
    """Adds entries to a file, or makes it; whole or not at all.

    An entry for the same fit takes the place of the old one. The trials of its searches stay, and so do its other
    detectors if the fit has the same parameters: those tuned on another fit would be wrong.

    Args:
        path: The file.
        entries: What is new.
        name: Of the preset; the file's own if it exists, else what the file is called.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_name(f".{path.name}.lock")):
            old = load_presets(path) if path.exists() else None
            kept = {entry.key: entry for entry in old.fits} if old else {}
            for entry in entries:
                kept[entry.key] = _over(entry, kept.get(entry.key))
            fits = [kept[key].model_dump(exclude_none=True) for key in sorted(kept)]
            new = _checked({"name": name or (old.name if old else path.stem), "fits": fits}, path)
            clear_leftovers(path)
            write_text(path, tomli_w.dumps(new.model_dump(exclude_none=True)))
    except OSError as error:
        raise DataError(f"the preset file {path} cannot be written: {error.strerror or error}") from error
    return new


def _over(entry: FitEntry, old: FitEntry | None) -> FitEntry:
    if old is None:
        return entry
    studies = old.studies | entry.studies
    detectors = entry.detectors
    if (old.parameters, old.epochs, old.lr) == (entry.parameters, entry.epochs, entry.lr):
        fresh = {choice.detector for choice in entry.detectors}
        detectors += tuple(choice for choice in old.detectors if choice.detector not in fresh)
    return entry.model_copy(update={"studies": studies, "detectors": detectors})


def _checked(fields: dict[str, Any], path: Path) -> PresetFile:
    try:
        return PresetFile.model_validate(fields)
    except ValidationError as error:
        raise UsageError(f"the preset file {quoted(path, LONGEST_PATH)}: {first_problem(error)}") from error
