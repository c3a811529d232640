"""What is searched: the paper's grids, within a budget.

Parameters of the fit are searched trial by trial. Parameters of detectors (ODIN's eps and temperature, GOOD's alpha)
need no fit of their own, so every trial scores all of them. Strategies declare their grids themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from lgl_bench.core.expressions import Constant, Expression, complete, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.variants import variants
from lgl_bench.plans.budget import Budget
from lgl_bench.plans.paper_presets import Preset, detector_preset, good_preset, grid
from lgl_bench.strategies import strategies

if TYPE_CHECKING:
    import optuna

Search: TypeAlias = Literal["grid", "tpe"]
Space: TypeAlias = dict[str, tuple[float, ...]]
Value = TypeVar("Value", bound=Constant)
_WHOLE = {"layers", "hidden", "heads", "r", "epochs"}
_OF_TRAINING = {"epochs", "lr"}
_LOG = {"hidden", "heads", "lr"}


def fit_space(split: str, backbone: str, base: Preset, budget: Budget) -> Space:
    """Values of each parameter of a fit.

    For temporal streams the paper lists only what differs from the static ones; the rest (dropout, learning rate,
    GAT's attention dropout) is taken from there, because its best values differ there too. A value above the budget
    becomes what the budget makes of it. What a backbone does not take of the grid for all is not searched.
    """
    kinds = ("static", "temporal") if split == "temporal" else ("static",)
    raw: Space = {}
    for applies_to in ("all", backbone):
        for kind in kinds:
            raw |= grid(kind, applies_to)
    raw = {name: values for name, values in raw.items() if name in base.backbone or name in _OF_TRAINING}
    least = {name: min(values) for name, values in raw.items()}
    return {
        name: tuple(sorted({_point(budget.cap(at(base, least | {name: value})))[name] for value in values}))
        for name, values in raw.items()
    }


def strategy_space(asked: str) -> dict[str, tuple[Constant, ...]]:
    """Values of each parameter of a strategy that its expression does not give; empty if there is nothing to search."""
    expression = parse(asked)
    given = dict(expression.parameters)
    declared = strategies.get(expression.name).grid
    return {name: tuple(values) for name, values in declared.items() if name not in given}


def size(space: Mapping[str, tuple[Value, ...]]) -> int:
    """Points of the full grid."""
    return math.prod(len(values) for values in space.values())


def at(base: Preset, point: Mapping[str, float]) -> Preset:
    """The preset with the parameters of a point in place of its own."""
    typed = {name: int(value) if name in _WHOLE else float(value) for name, value in point.items()}
    training = replace(base.training, epochs=int(typed.pop("epochs")), lr=typed.pop("lr"))
    return replace(base, backbone={**base.backbone, **typed}, training=training)


def _point(preset: Preset) -> dict[str, float]:
    return {**preset.backbone, "epochs": preset.training.epochs, "lr": preset.training.lr}


def fixed(space: Mapping[str, tuple[Value, ...]]) -> dict[str, Value]:
    """Parameters with one value only: nothing is suggested for them."""
    return {name: values[0] for name, values in space.items() if len(values) == 1}


def free(space: Mapping[str, tuple[Value, ...]]) -> dict[str, tuple[Value, ...]]:
    """Parameters that are searched."""
    return {name: values for name, values in space.items() if len(values) > 1}


def suggest(trial: optuna.Trial, space: Space, search: Search) -> dict[str, float]:
    """A point of the free parameters: one of the grid, or anything between its ends."""
    point: dict[str, float] = {}
    for name, values in free(space).items():
        low, high = values[0], values[-1]
        if search == "grid":
            point[name] = trial.suggest_categorical(name, values)
        elif name in _WHOLE:
            point[name] = trial.suggest_int(name, int(low), int(high), log=name in _LOG)
        else:
            point[name] = trial.suggest_float(name, low, high, log=name in _LOG)
    return point


@dataclass(frozen=True, slots=True)
class Candidates:
    """A detector with every setting of its parameters that is looked at.

    GOOD's alpha is chosen after the parameters of what it wraps, from scores that are there already.

    Attributes:
        plain: What is scored, with the paper's parameters: shows how a fit is coming on.
        settings: What is scored, with each setting of its parameters.
        alphas: Weights of the neighbours; empty if the detector is not GOOD.
    """

    plain: str
    settings: tuple[str, ...]
    alphas: tuple[float, ...] = ()

    @property
    def count(self) -> int:
        """Settings in all: alpha is chosen for one of them only."""
        return len(self.settings) + len(self.alphas)


def candidates(text: str, stream: str, split: str, backbone: str) -> Candidates:
    """The settings of a detector; values in the expression stay as they are."""
    expression = parse(text)
    alphas: tuple[float, ...] = ()
    if expression.name == "good" and len(expression.arguments) == 1:
        base = expression.arguments[0]
        if base.name == "preset":
            base = Expression(good_preset(stream, split, backbone)[0])
        given = dict(complete(Expression("good", (base,), expression.parameters), detectors).parameters)
        alphas = (float(given["alpha"]),) if expression.parameters else grid("all", "good")["alpha"]
        expression = base

    def preset(name: str) -> dict[str, float | int | bool | str]:
        return detector_preset(stream, split, backbone, name)

    def text_of(variant: Expression) -> str:
        return str(complete(variant, detectors, preset))

    return Candidates(text_of(expression), tuple(map(text_of, variants(expression))), alphas)
