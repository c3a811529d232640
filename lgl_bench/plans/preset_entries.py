"""The entries of a preset file: what was found for a fit, for a detector on it, for a strategy."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from lgl_bench.backbones import MAX_HIDDEN
from lgl_bench.core.errors import UsageError, quoted
from lgl_bench.core.expressions import Expression, fills, parse
from lgl_bench.core.validation import Flag, Line, Number, Whole, Word

_STRICT = ConfigDict(extra="forbid", frozen=True)
_MAX_EPOCHS = 1_000_000
# What a budget caps must be a number that can be capped.
_COUNTS = ("hidden", "layers", "heads", "r")
_SHARES = ("dropout", "attn_dropout")
_Count: TypeAlias = Annotated[Whole, Field(ge=1)]
_Constant: TypeAlias = Flag | Whole | Number | Word
_Parameter: TypeAlias = Flag | Whole | Number | Line | tuple[Whole, ...]
_Studies: TypeAlias = dict[Line, Annotated[Whole, Field(ge=0)]]


def _readable(text: str) -> str:
    try:
        return str(parse(text))
    except UsageError as error:
        raise ValueError(str(error)) from error


_Text: TypeAlias = Annotated[Line, AfterValidator(_readable)]


class DetectorEntry(BaseModel):
    """A detector with the parameters that were chosen for it on a fit.

    Attributes:
        expression: With every parameter given.
        auroc: On the validation task, if it has new vertices.
        candidates: Parameter settings that were looked at in each trial.
    """

    model_config = _STRICT

    expression: _Text
    auroc: Number | None = None
    candidates: _Count = 1

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
    studies: _Studies = {}
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


class StrategyEntry(BaseModel):
    """Parameters of a strategy for (stream, split, backbone), whatever the head.

    Attributes:
        strategy: As an expression, with the values that were not searched; those it does not give may be anything.
        parameters: What was found.
        studies: Trials of each search that was made for this entry.
        tuned: How the parameters were found; absent if they were written by hand.
    """

    model_config = _STRICT

    stream: Line
    split: Line
    backbone: Line
    strategy: _Text
    parameters: dict[Word, _Constant] = Field(min_length=1)
    studies: _Studies = {}
    tuned: Tuned | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the entry is for."""
        return self.stream, self.split, self.backbone, self.strategy

    @property
    def trials(self) -> int:
        """Trials behind the entry."""
        return sum(self.studies.values())

    def applies(self, asked: Expression, whole: Expression) -> bool:
        """Whether it says something of a strategy.

        What was found together is taken together: a strategy that gives one of the values gets none of the others.

        Args:
            asked: As it is written.
            whole: With every value.
        """
        given = dict(asked.parameters)
        return fills(whole, parse(self.strategy)) and not any(name in given for name in self.parameters)


def skeleton(expression: Expression) -> Expression:
    """An expression without its named values.

    >>> str(skeleton(parse("good(odin(eps=0.1), alpha=0.5)")))
    'good(odin)'
    """
    return Expression(expression.name, tuple(skeleton(argument) for argument in expression.arguments))
