"""Suites: which streams, backbones, detectors and thresholds a benchmark is made of, one TOML each."""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

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
        split: Of a static protocol; several are run one after the other.
        history: Years kept; None keeps all.
        restart: "warm" or "cold".
        label_delay: Years until labels arrive.
        streams: Real streams first; where one is absent its twin stands in.
        backbones: By name.
        detectors: Expressions; `good(D)` takes the preset's or the chosen alpha.
        detectors_for: Backbones with detectors of their own.
        thresholds: Expressions.
        thresholds_on: "best": on the combination that is best on the validation task of each stream; "all".
        select: How parameters of detectors and GOOD's base and alpha are chosen; "t1" where a temporal suite does not
            say, "preset" otherwise.
        sweep: Values of backbone parameters, each a row of its own.
        vary: Values for names in braces: a stream, detector or threshold `good(odin, alpha={alpha})` stands for one
            of each value.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    version: int = Field(ge=1)
    title: str
    protocol: str
    split: tuple[str, ...] = ()
    history: int | None = Field(default=None, ge=1)
    restart: Literal["warm", "cold"] = "warm"
    label_delay: int = Field(default=0, ge=0)
    streams: tuple[str, ...] = Field(min_length=1)
    backbones: tuple[str, ...] = Field(min_length=1)
    detectors: tuple[str, ...] = Field(min_length=1)
    detectors_for: dict[str, tuple[str, ...]] = {}
    thresholds: tuple[str, ...] = ()
    thresholds_on: Literal["best", "all"] = "best"
    select: Select = "preset"
    sweep: dict[str, tuple[float, ...]] = {}
    vary: dict[str, tuple[float | str, ...]] = {}

    @field_validator("split", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _default_select(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and fields.get("protocol") == "temporal":
            return {"select": "t1", **fields}
        return fields

    @model_validator(mode="after")
    def _expand(self) -> Self:
        for name in ("streams", "detectors", "thresholds"):
            object.__setattr__(self, name, expand(getattr(self, name), self.vary))
        own = {backbone: expand(texts, self.vary) for backbone, texts in self.detectors_for.items()}
        object.__setattr__(self, "detectors_for", own)
        return self

    def detectors_of(self, backbone: str) -> tuple[str, ...]:
        """The detectors that are run on a backbone."""
        return self.detectors_for.get(backbone, self.detectors)

    def override(self, **given: Any) -> Suite:
        """The suite with some axes replaced; those given as None or empty stay. The threshold "none" means none."""
        given = {key: value for key, value in given.items() if value not in (None, ())}
        fields = {**self.model_dump(), **given}
        if "detectors" in given:
            fields["detectors_for"] = {}
        if tuple(fields["thresholds"]) == ("none",):
            fields["thresholds"] = ()
        return read_fields(fields, self.name)


def expand(texts: tuple[str, ...], vary: dict[str, tuple[float | str, ...]]) -> tuple[str, ...]:
    """Every text once for each combination of the values of the names in braces in it.

    >>> expand(("msp", "good(msp, alpha={a})"), {"a": (0, 0.5)})
    ('msp', 'good(msp, alpha=0)', 'good(msp, alpha=0.5)')
    """
    found: list[str] = []
    for text in texts:
        names = [name for name in vary if f"{{{name}}}" in text]
        for values in product(*(vary[name] for name in names)):
            one = text
            for name, value in zip(names, values, strict=True):
                one = one.replace(f"{{{name}}}", f"{value:g}" if isinstance(value, float) else str(value))
            found.append(one)
    return tuple(found)


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
