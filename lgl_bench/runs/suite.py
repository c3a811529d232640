"""Suites: which streams, backbones, detectors and thresholds a benchmark is made of, one TOML each."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.core.resources import shipped
from lgl_bench.runs.select import Select


class Suite(BaseModel):
    """A benchmark.

    Attributes:
        name: A column of the leaderboard.
        version: Raised when the suite's results are no longer comparable with older ones.
        title: What it is, in a sentence.
        protocol: By name.
        split: Of a static protocol.
        history: Years kept; None keeps all.
        restart: "warm" or "cold".
        label_delay: Years until labels arrive.
        streams: Real streams first; where one is absent its twin stands in.
        backbones: By name.
        detectors: Expressions; `good(D)` takes the preset's or the chosen alpha.
        thresholds: Expressions.
        thresholds_on: "best": on the combination that is best on the validation task of each stream; "all".
        select: How GOOD's base and alpha are chosen.
        sweep: Values of backbone parameters, each a row of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    version: int = Field(ge=1)
    title: str
    protocol: str
    split: str | None = None
    history: int | None = None
    restart: Literal["warm", "cold"] = "warm"
    label_delay: int = Field(default=0, ge=0)
    streams: tuple[str, ...] = Field(min_length=1)
    backbones: tuple[str, ...] = Field(min_length=1)
    detectors: tuple[str, ...] = Field(min_length=1)
    thresholds: tuple[str, ...] = ()
    thresholds_on: Literal["best", "all"] = "best"
    select: Select = "preset"
    sweep: dict[str, tuple[float, ...]] = {}

    def override(self, **given: Any) -> Suite:
        """The suite with some axes replaced; those given as None or empty stay. The threshold "none" means none."""
        fields = {**self.model_dump(), **{key: value for key, value in given.items() if value}}
        if tuple(fields["thresholds"]) == ("none",):
            fields["thresholds"] = ()
        return read_fields(fields, self.name)


def suites() -> list[str]:
    """Names of the suites that come with the package."""
    return sorted(path.stem for path in shipped("benchmarks").glob("*.toml"))


def load_suite(name: str) -> Suite:
    """A suite by name, or from a TOML file of one's own."""
    path = Path(name) if name.endswith(".toml") else shipped("benchmarks") / f"{name}.toml"
    if not path.is_file():
        raise UnknownNameError("suite", name, suites(), f"There are: {', '.join(suites())}")
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"the suite {path} cannot be read: {error}") from error
    return read_fields(fields, str(path))


def read_fields(fields: dict[str, Any], where: str) -> Suite:
    """A suite from its fields, checked."""
    try:
        return Suite(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"the suite {where}: field '{place}': {first['msg']}") from error
