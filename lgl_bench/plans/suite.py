"""Suites: which streams, backbones, detectors and thresholds a benchmark is made of, one TOML each."""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from lgl_bench.core.errors import UnknownNameError, UsageError, quoted
from lgl_bench.core.grammar import LONGEST, plugin_name
from lgl_bench.core.resources import shipped
from lgl_bench.core.toml import LONGEST_PATH, read_toml
from lgl_bench.core.validation import Line, Number, Whole, Word, first_problem
from lgl_bench.streams.catalogue import is_name

AXES = (
    "streams",
    "backbones",
    "detectors",
    "thresholds",
    "thresholds_on",
    "select",
    "split",
    "strategies",
    "history",
    "restart",
    "label_delay",
    "label_delay_for",
)
"""What a run may replace of a suite and still carry its name: all of it stands in columns of every row."""
MAX_ROWS = 10_000
_MAX_VALUES = 1_000
_MAX_YEARS = 10_000

Select: TypeAlias = Literal["preset", "t1", "prequential", "nested"]
"""On what parameters of detectors and thresholds' combinations are chosen."""

_Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST)]
# A value that named another would be filled in as often as the suite is read.
_Value: TypeAlias = Annotated[_Text, Field(pattern="^[^{}]*$")]
_Texts: TypeAlias = Annotated[tuple[_Text, ...], Field(min_length=1, max_length=_MAX_VALUES)]
_Delay: TypeAlias = Annotated[Whole, Field(ge=0, le=_MAX_YEARS)]
_Words: TypeAlias = Annotated[tuple[Word, ...], Field(max_length=_MAX_VALUES)]


class Spelled(BaseModel):
    """The strategies that suites and commands may spell by `history` and `restart`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    history: Whole | None = Field(default=None, ge=1, le=_MAX_YEARS)
    restart: Literal["warm", "cold"] | None = None

    @property
    def given(self) -> bool:
        """Whether anything is asked for."""
        return self.history is not None or self.restart is not None

    @property
    def strategy(self) -> str:
        """The strategy as an expression."""
        if self.history is not None:
            return f"window(years={self.history},restart={self.restart or 'warm'})"
        return "cold" if self.restart == "cold" else "full"


class Suite(BaseModel):
    """A benchmark.

    Attributes:
        name: A column of the leaderboard.
        version: Raised when the suite's results are no longer comparable with older ones.
        title: What it is, in a sentence.
        protocol: By name.
        split: Of a static protocol; several are run one after the other.
        strategies: Expressions: what is kept of the past. `history` = w and `restart` = "cold" are other spellings of
            `window(years=w)` and `cold`, and a suite that is read has neither.
        label_delay: Years until labels arrive.
        label_delay_for: The same for single streams, by name; a run that gives a delay gives it to all of them.
        streams: Real streams first; if one is absent its twin stands in.
        backbones: Expressions; parameters that are not given are the preset's.
        detectors: Expressions; `good(D)` takes the preset's or the chosen alpha.
        detectors_for: Backbones, by name, with detectors of their own.
        thresholds: Expressions.
        thresholds_on: "best": on the combination that is best on the validation task of each stream; "all".
        select: How parameters of detectors and GOOD's base and alpha are chosen; "t1" if a temporal suite does not
            say, "preset" otherwise.
        sweep: Values of backbone parameters, each a row of its own.
        vary: Values for names in braces: a stream, strategy, backbone, detector or threshold
            `good(odin, alpha={alpha})` stands for one of each value.
        reduced: Per budget, axes that are smaller under it: what a run takes unless it names them itself.
        matrix: Whether every model answers for every year too, which forgetting and transfer are made from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Word
    version: Whole = Field(ge=1)
    title: Line
    protocol: Word
    split: _Words = ()
    strategies: _Texts = ("full",)
    label_delay: _Delay = 0
    label_delay_for: dict[Word, _Delay] = {}
    streams: _Texts
    backbones: _Texts
    detectors: _Texts
    detectors_for: dict[Word, _Texts] = {}
    thresholds: tuple[_Text, ...] = Field(default=(), max_length=_MAX_VALUES)
    thresholds_on: Literal["best", "all"] = "best"
    select: Select = "preset"
    sweep: dict[Word, Annotated[tuple[Number, ...], Field(min_length=1, max_length=_MAX_VALUES)]] = {}
    vary: dict[Word, Annotated[tuple[Number | _Value, ...], Field(min_length=1, max_length=_MAX_VALUES)]] = {}
    reduced: dict[Word, dict[Literal["streams", "backbones", "detectors", "strategies"], _Texts]] = {}
    matrix: bool = False

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

    @model_validator(mode="before")
    @classmethod
    def _spell_strategy(cls, fields: Any) -> Any:
        """Puts a strategy in the place of `history` and `restart`."""
        if not isinstance(fields, dict) or not {"history", "restart"} & {*fields}:
            return fields
        spelled = Spelled.model_validate({name: fields[name] for name in ("history", "restart") if name in fields})
        rest = {name: value for name, value in fields.items() if name not in ("history", "restart")}
        if spelled.given and "strategies" in rest:
            raise ValueError("'history' and 'restart' are another spelling of 'strategies'; give one of the two")
        return {**rest, "strategies": (spelled.strategy,)} if spelled.given else rest

    @model_validator(mode="after")
    def _expand(self) -> Self:
        """Puts the values of `vary` in place, and counts what comes of it before anybody makes it."""
        for name in ("streams", "strategies", "backbones", "detectors", "thresholds"):
            object.__setattr__(self, name, expand(getattr(self, name), self.vary))
        own = {backbone: expand(texts, self.vary) for backbone, texts in self.detectors_for.items()}
        object.__setattr__(self, "detectors_for", own)
        for stream in self.streams:
            # A stream goes by the name of its folder; only a twin has values behind its name.
            if not is_name(plugin_name(stream)):
                raise ValueError(
                    f"{quoted(stream)} cannot be the name of a stream; 'lgl-bench data list' shows them all"
                )
        rows = self._most_rows()
        if rows > MAX_ROWS:
            raise ValueError(
                f"it asks for {rows:,} rows, one for each stream, strategy, split, backbone, swept value and detector; "
                f"at most {MAX_ROWS:,} are run at once: make several suites of it"
            )
        return self

    def _most_rows(self) -> int:
        swept = math.prod(map(len, self.sweep.values()))
        methods = sum(len(self.detectors_of(backbone)) for backbone in self.backbones)
        decided = 1 + len(self.thresholds) if self.thresholds_on == "all" else 1
        return len(self.streams) * len(self.strategies) * max(1, len(self.split)) * swept * methods * decided

    def detectors_of(self, backbone: str) -> tuple[str, ...]:
        """The detectors that are run on a backbone, by its name or expression."""
        return self.detectors_for.get(plugin_name(backbone), self.detectors)

    def on(self, stream: str) -> Suite:
        """The suite as it is on one stream."""
        delay = self.label_delay_for.get(stream, self.label_delay)
        return self.model_copy(update={"label_delay": delay, "label_delay_for": {}})

    def within(self, budget: str) -> Suite:
        """The suite as small as it is under a budget."""
        return self.override(**self.reduced.get(budget, {}))

    def override(self, **given: Any) -> Suite:
        """The suite with some axes replaced; those given as None or empty stay. The threshold "none" means none.

        Raises:
            UsageError: What is given is no axis, or has a wrong value.
        """
        other = sorted(set(given) - set(AXES))
        if other:
            raise UsageError(
                f"{quoted(other[0])} of a suite cannot be replaced for a run: write a suite of your own, under another "
                f"name. Replaced can be: {', '.join(AXES)}"
            )
        given = {key: value for key, value in given.items() if value not in (None, ())}
        fields = {**self.model_dump(), **given}
        if {"history", "restart"} & {*given} and "strategies" not in given:
            del fields["strategies"]
        if "detectors" in given:
            fields["detectors_for"] = {}
        if "label_delay" in given and "label_delay_for" not in given:
            fields["label_delay_for"] = {}
        if tuple(fields["thresholds"]) == ("none",):
            fields["thresholds"] = ()
        return read_fields(fields, self.name)


def expand(texts: tuple[str, ...], vary: dict[str, tuple[float | str, ...]]) -> tuple[str, ...]:
    """Every text once for each combination of the values of the names in braces in it.

    >>> expand(("msp", "good(msp, alpha={a})"), {"a": (0, 0.5)})
    ('msp', 'good(msp, alpha=0)', 'good(msp, alpha=0.5)')

    Raises:
        ValueError: That would be more texts than a suite may have rows, or one longer than an expression may be.
    """
    used = {text: [name for name in vary if f"{{{name}}}" in text] for text in texts}
    count = sum(math.prod(len(vary[name]) for name in used[text]) for text in texts)
    if count > MAX_ROWS:
        raise ValueError(f"the values of 'vary' make {count:,} texts of it; at most {MAX_ROWS:,} are taken")
    return tuple(
        _filled(text, dict(zip(used[text], values, strict=True)))
        for text in texts
        for values in product(*(vary[name] for name in used[text]))
    )


def _filled(text: str, values: dict[str, float | str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value).removesuffix(".0"))
        if len(text) > LONGEST:
            raise ValueError(f"{quoted(text)}: with the values of 'vary' it has more than {LONGEST} characters")
    return text


def suites() -> list[str]:
    """Names of the suites that come with the package."""
    return sorted(path.stem for path in shipped("benchmarks").glob("*.toml"))


def load_suite(name: str) -> Suite:
    """A suite by name, or from a TOML file of one's own.

    Raises:
        UsageError: There is none, it is wrong, or it has the name of a shipped suite but is another.
    """
    if name in suites():
        return _shipped(name)
    there_are = f"There are: {', '.join(suites())}; one of your own is a file whose name ends in .toml"
    if not name.endswith(".toml"):
        raise UnknownNameError("suite", name, suites(), there_are)
    path = Path(name)
    suite = read_fields(read_toml(path, "the suite", missing=there_are), str(path))
    if suite.name in suites() and not is_shipped(suite):
        raise UsageError(
            f"the name {suite.name} belongs to the shipped suite, and {quoted(path)} differs from it: "
            "give your suite another name"
        )
    return suite


@cache
def _shipped(name: str) -> Suite:
    path = shipped("benchmarks") / f"{name}.toml"
    return read_fields(read_toml(path, "the suite"), str(path))


def suite_digest(suite: Suite) -> str:
    """Digest of all that decides the rows of a suite: its name and version, but not its title."""
    deciding = suite.model_dump(mode="json", exclude={"title", "vary"})
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def is_shipped(suite: Suite) -> bool:
    """Whether a suite is the shipped one of its name, whole and unchanged."""
    return suite.name in suites() and suite_digest(suite) == suite_digest(_shipped(suite.name))


def has_shipped_detectors(suite: Suite) -> bool:
    """Whether the detectors of a suite are those of the shipped one of its name: no run has named others."""
    if suite.name not in suites():
        return False
    own = _shipped(suite.name)
    return (suite.detectors, suite.detectors_for) == (own.detectors, own.detectors_for)


def comes_from_shipped(suite: Suite) -> bool:
    """Whether a suite is the shipped one of its name, or what a run makes of it by replacing axes.

    Every axis stands in the rows; what does not (version, protocol, swept values) must be the shipped suite's.
    """
    if suite.name not in suites():
        return False
    given = {axis: getattr(suite, axis) for axis in AXES if axis in Suite.model_fields}
    own = _shipped(suite.name).model_copy(update=given)
    candidates = (own, own.model_copy(update={"detectors_for": {}}))
    return suite_digest(suite) in map(suite_digest, candidates)


def read_fields(fields: dict[str, Any], source: str) -> Suite:
    """A suite from its fields, checked."""
    try:
        return Suite.model_validate(fields)
    except ValidationError as error:
        raise UsageError(f"the suite {quoted(source, LONGEST_PATH)}: {first_problem(error)}") from error
