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

    [[strategies]]                 one for each stream, split, backbone and strategy
    stream = "dblp-easy"
    split = "temporal"
    backbone = "gcn"
    strategy = "replay(pick=mean)" which ones: those that have these values
    parameters = { size = 500 }
    studies = { tune-81d2 = 3 }

Searches add up: an entry that is tuned again keeps the trials of the search before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from lgl_bench.core.errors import DataError, UsageError, quoted
from lgl_bench.core.expressions import Constant, Expression, parse
from lgl_bench.core.files import clear_leftovers, locked, write_text
from lgl_bench.core.toml import LONGEST_PATH, read_toml
from lgl_bench.core.types import TrainingParameters
from lgl_bench.core.validation import Word, first_problem
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.plans.preset_entries import FitEntry, StrategyEntry, skeleton

_STRICT = ConfigDict(extra="forbid", frozen=True)
_MAX_ENTRIES = 10_000


class PresetFile(BaseModel):
    """A whole file.

    Attributes:
        name: What rows that use it carry in their `preset` column.
        fits: One entry for each stream, split, backbone and head.
        strategies: One entry for each stream, split, backbone and strategy.
    """

    model_config = _STRICT

    name: Word
    fits: tuple[FitEntry, ...] = Field(default=(), max_length=_MAX_ENTRIES)
    strategies: tuple[StrategyEntry, ...] = Field(default=(), max_length=_MAX_ENTRIES)

    @field_validator("name")
    @classmethod
    def _own(cls, name: str) -> str:
        if name.strip().lower().startswith("paper"):
            raise ValueError(f"'{name}' would pass for the paper's own preset; choose another")
        return name

    @model_validator(mode="after")
    def _once(self) -> Self:
        keys: list[tuple[str, ...]] = []
        for entry in self.fits:
            on = entry.key[:3]
            keys += [entry.key, *((*on, "detector", detector.detector) for detector in entry.detectors)]
        keys += [(*one.key[:3], "strategy", one.strategy) for one in self.strategies]
        seen: set[tuple[str, ...]] = set()
        for key in keys:
            if key in seen:
                raise ValueError(f"{', '.join(key)} is there twice")
            seen.add(key)
        return self

    @property
    def trials(self) -> int:
        """Trials behind all entries."""
        return sum(fit.trials for fit in self.fits) + sum(one.trials for one in self.strategies)

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

    def strategy(
        self, stream: str, split: str, backbone: str, asked: Expression, whole: Expression
    ) -> StrategyEntry | None:
        """The entry of a strategy, of several that fit the one that says most of it; None if the file has none.

        Args:
            stream: By name.
            split: Of the protocol.
            backbone: By name.
            asked: The strategy as it is written: values that are given stay.
            whole: The strategy with every value.
        """
        here = (one for one in self.strategies if one.key[:3] == (stream, split, backbone))
        found = [one for one in here if one.applies(asked, whole)]
        return max(found, key=lambda one: len(parse(one.strategy).parameters), default=None)

    def _chosen(self, stream: str, split: str, backbone: str, detector: str) -> Expression | None:
        for entry in self.fits:
            if entry.key[:3] == (stream, split, backbone):
                for choice in entry.detectors:
                    if choice.detector == detector:
                        return parse(choice.expression)
        return None


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


def write_presets(path: Path, entries: Sequence[FitEntry | StrategyEntry], name: str | None = None) -> PresetFile:
    """Adds entries to a file, or makes it; whole or not at all.

    An entry for the same fit or strategy takes the place of the old one. The trials of its searches stay, and so do the
    other detectors of a fit if it has the same parameters: those tuned on another fit would be wrong.

    Args:
        path: The file.
        entries: What is new.
        name: Of the preset; the file's own if it exists, else what the file is called.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_name(f".{path.name}.lock")):
            old = load_presets(path) if path.exists() else None
            new = _checked({"name": name or (old.name if old else path.stem), **_merged(old, entries)}, path)
            fields = new.model_dump(exclude_none=True)
            clear_leftovers(path)
            write_text(path, tomli_w.dumps({part: found for part, found in fields.items() if found}))
    except OSError as error:
        raise DataError(f"the preset file {path} cannot be written: {error.strerror or error}") from error
    return new


def _merged(old: PresetFile | None, entries: Sequence[FitEntry | StrategyEntry]) -> dict[str, Any]:
    """The entries of a file and new ones, as fields, in the order of what they are for."""
    fits = {entry.key: entry for entry in old.fits} if old else {}
    strategies = {entry.key: entry for entry in old.strategies} if old else {}
    for entry in entries:
        if isinstance(entry, FitEntry):
            fits[entry.key] = _over(entry, fits.get(entry.key))
        else:
            before = strategies[entry.key].studies if entry.key in strategies else {}
            strategies[entry.key] = entry.model_copy(update={"studies": before | entry.studies})
    return {
        "fits": [fits[key].model_dump(exclude_none=True) for key in sorted(fits)],
        "strategies": [strategies[key].model_dump(exclude_none=True) for key in sorted(strategies)],
    }


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
