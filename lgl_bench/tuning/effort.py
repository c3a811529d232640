"""How much a study searches, and what it depends on whatever is searched."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from lgl_bench.core.errors import UsageError
from lgl_bench.plans.budget import Budget
from lgl_bench.plans.budget import budget as budget_of
from lgl_bench.plans.fits import ChainSpec, ProtocolSetting, StrategySetting, unit_key
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.streams.stream import Stream
from lgl_bench.tuning.space import Search

MAX_POINTS = 200
"""A larger grid has to be asked for with a number of trials."""
TPE_TRIALS = 50
FULL = StrategySetting()


class Effort(NamedTuple):
    """How much is searched, and how; trials are None unless asked for."""

    budget: Budget
    seeds: int
    search: Search
    trials: int | None


def effort_of(budget: str, seeds: int | None, search: Search, trials: int | None) -> Effort:
    """What is asked for, checked.

    Args:
        budget: By name.
        seeds: The budget's if None.
        search: The full grid, or TPE between its ends.
        trials: None if not asked for.
    """
    limit = budget_of(budget)
    count = limit.seeds if seeds is None else seeds
    for option, value in (("--seeds", count), ("--trials", trials)):
        if value is not None and value < 1:
            raise UsageError(f"{option} {value}: at least one is needed")
    return Effort(limit, count, search, trials)


def grid_trials(what: str, points: int, trials: int | None, instead: str = "") -> int:
    """How many points of a grid are tried: all, or those asked for.

    Args:
        what: What is searched, for the message.
        points: Of the full grid.
        trials: None if not asked for.
        instead: What else could be done with a large grid.

    Raises:
        UsageError: The grid is large, and nobody said how much of it is to be tried.
    """
    if trials is None and points > MAX_POINTS:
        raise UsageError(
            f"the grid of {what} has {points} points; give --trials N to try N of them "
            f"(--trials {points} for all){instead}"
        )
    return min(trials or points, points)


def fit_key(
    stream: Stream,
    setting: ProtocolSetting,
    backbone: str,
    head: str,
    base: Preset,
    checksum: str,
    strategy: StrategySetting = FULL,
) -> str:
    """What determines a fit apart from what is searched: data, protocol, sources, versions."""
    parameters = tuple(sorted(base.backbone.items()))
    training = base.training
    chain = ChainSpec(stream.name, None, setting, backbone, head, parameters, training.epochs, training.lr, 0)
    chain = replace(chain, steps=training.steps, warm_steps=training.warm_steps, strategy=strategy)
    return unit_key(chain, checksum, stream.times[-1], "", "")
