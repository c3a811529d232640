"""The columns of a table, read off the models of `schema.py`."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lgl_bench.grading.row_key import Key
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.table.schema import HEADLINE, SUFFIXES, Facts, Figures
from lgl_bench.metrics import metrics as registry

Kind = Literal["text", "whole", "real"]


@dataclass(frozen=True, slots=True)
class Column:
    """What a column may hold.

    Attributes:
        kind: Text, whole numbers or real ones.
        empty: Whether a cell may be empty.
        low: Least value.
        high: Greatest value.
        choices: The only values there are; none means any.
        about: What it means, in words.
    """

    name: str
    kind: Kind
    empty: bool
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    about: str = ""


def columns(metrics: Iterable[str]) -> list[Column]:
    """Every column of a table with these metrics, in order."""
    return [
        *_of(Key),
        *(column for name in metrics for column in _of_metric(name)),
        *_of(Facts),
    ]


def _of_metric(name: str) -> list[Column]:
    found = []
    for suffix, column in zip(SUFFIXES, _of(Figures), strict=True):
        low, high = registry.described(name).range if suffix == "mean" else (column.low, column.high)
        found.append(replace(column, name=metric_column(name, suffix), low=low, high=high))
    return found


def metrics_in(names: Iterable[object]) -> list[str]:
    """Metrics that a header has columns of: the headline ones, then any other, sorted.

    >>> metrics_in(["stream", "delay_mean", "delay_lo", "git_commit"])[-1]
    'delay'
    """
    fixed = {column.name for column in columns(HEADLINE)}
    others = set()
    for name in map(str, names):
        stem, _, suffix = name.rpartition("_")
        # n_seeds and n_years have an underscore of their own.
        if suffix in ("seeds", "years") and stem.endswith("_n"):
            stem, suffix = stem.removesuffix("_n"), f"n_{suffix}"
        if name not in fixed and stem and suffix in SUFFIXES:
            others.add(stem)
    return [*HEADLINE, *sorted(others)]


@cache
def _of(model: type[BaseModel]) -> tuple[Column, ...]:
    hints = typing.get_type_hints(model, include_extras=True)
    return tuple(_column(name, field, hints[name]) for name, field in model.model_fields.items())


def _column(name: str, field: FieldInfo, hint: Any) -> Column:
    kinds, empty, bounds, choices = _unfold(hint)
    bounds = [*bounds, *field.metadata]
    kind: Kind = "text" if str in kinds else "real" if float in kinds else "whole"
    if kind == "text":
        filled = any(isinstance(bound, annotated_types.MinLen) for bound in bounds)
        empty = "" in choices if choices else not filled
    low = next((float(typing.cast(Any, b.ge)) for b in bounds if isinstance(b, annotated_types.Ge)), None)
    high = next((float(typing.cast(Any, b.le)) for b in bounds if isinstance(b, annotated_types.Le)), None)
    if kind == "whole" and choices:
        low, high, choices = float(min(choices)), float(max(choices)), ()
    return Column(name, kind, empty, low, high, tuple(map(str, choices)), field.description or "")


def _unfold(hint: Any) -> tuple[set[type], bool, list[Any], tuple[Any, ...]]:
    """Plain types, whether None is among them, constraints, and the values of a Literal."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        inner, *extra = typing.get_args(hint)
        kinds, empty, bounds, choices = _unfold(inner)
        for item in extra:
            bounds = [*bounds, *(item.metadata if isinstance(item, FieldInfo) else [item])]
        return kinds, empty, bounds, choices
    if origin in (typing.Union, types.UnionType):
        kinds, empty, bounds, choices = set(), False, [], ()
        for part in typing.get_args(hint):
            more = _unfold(part)
            kinds, empty, bounds, choices = kinds | more[0], empty or more[1], bounds + more[2], choices + more[3]
        return kinds, empty, bounds, choices
    if origin is Literal:
        values = typing.get_args(hint)
        return {type(value) for value in values}, False, [], values
    return (set(), True, [], ()) if hint is type(None) else ({hint}, False, [], ())


LAST = Fact.SCHEMA_VERSION
"""The last column of every table."""
