"""The search of a strategy: its size or strength on one stream and backbone, with the fits as they are.

A run has one strategy for all heads of a backbone, because a row may choose among heads. So it is tuned for all of
them: a value is the mean over heads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from lgl_bench.core.expressions import Constant, Expression, parse
from lgl_bench.plans.budget import Budget
from lgl_bench.plans.paper_presets import Preset, preset
from lgl_bench.plans.preset_file import PresetFile
from lgl_bench.plans.settings import ChainRequest, ChainSetting, with_values
from lgl_bench.runs.answer_digests import answer_digest
from lgl_bench.runs.scoring import Method
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.stream import Stream
from lgl_bench.tuning.effort import Effort, fit_key, grid_trials
from lgl_bench.tuning.objective import SettingScore
from lgl_bench.tuning.rehearsal import REHEARSED, rehearsed, rehearsed_value
from lgl_bench.tuning.space import Candidates, fixed, free, size, strategy_space
from lgl_bench.tuning.tasks import Metric

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

_FORMAT = 1


class HeadPart(NamedTuple):
    """A head that the strategy is tuned for, with its detectors and the parameters of its fits."""

    head: str
    detectors: tuple[Candidates, ...]
    base: Preset


@dataclass(frozen=True, slots=True)
class StrategyStudy:
    """A search of a strategy's parameters, over its grid.

    Attributes:
        name: Hash of everything that determines the values of its trials, and of what is searched.
        setting: Protocol and strategy, with the strategy's defaults for what is searched.
        parts: One per head.
        points: Of the full grid.
        trials: How many are wanted in all.
        checksum: Of the part of the stream that is looked at.
    """

    name: str
    stream: str
    split: str
    setting: ChainSetting
    backbone: str
    parts: tuple[HeadPart, ...]
    space: dict[str, tuple[Constant, ...]]
    points: int
    metric: Metric
    budget: Budget
    seeds: int
    trials: int
    checksum: str

    @property
    def search(self) -> Literal["grid"]:
        """A few values each: every point is tried."""
        return "grid"

    @property
    def head(self) -> str:
        """All heads, as they are shown."""
        return ",".join(part.head for part in self.parts)

    @property
    def strategy(self) -> str:
        """The strategy with the values that are not searched."""
        whole = parse(self.setting.strategy.name)
        kept = tuple(pair for pair in whole.parameters if pair[0] not in self.space)
        return str(Expression(whole.name, whole.arguments, kept))

    @property
    def title(self) -> str:
        """What is tuned, for messages."""
        return f"{self.stream} {self.backbone} {self.strategy}"

    @property
    def seed_axes(self) -> tuple[str | int, ...]:
        """What the order of its trials is drawn from."""
        return self.stream, self.split, self.backbone, self.strategy, self.metric, self.seeds

    def preference(self, trial: FrozenTrial) -> tuple[int, ...]:
        """Larger for what is taken of equal values: what stands first in the grid, so the smaller memory."""
        return tuple(-values.index(trial.params[name]) for name, values in free(self.space).items())

    def suggest(self, trial: optuna.Trial) -> Mapping[str, Any]:
        """A point of the grid."""
        return {name: trial.suggest_categorical(name, values) for name, values in free(self.space).items()}

    def values(self, point: Mapping[str, Any]) -> dict[str, Constant]:
        """Every searched parameter: those of a point, and those that have one value only."""
        return {**fixed(self.space), **point}

    def at(self, point: Mapping[str, Any]) -> ChainSetting:
        """What a point stands for."""
        return with_values(self.setting, self.values(point))

    def score(
        self, stream: Stream, point: Mapping[str, Any], report: Callable[[int, float], None] | None
    ) -> SettingScore:
        """What a point is worth on t1; nothing is reported on the way, because a grid is too small to prune."""
        setting = self.at(point)
        found = []
        for part in self.parts:
            capped = self.budget.cap(part.base)
            method = Method(self.backbone, part.head, capped, (), strategy=parse(setting.strategy.name))
            found.append(rehearsed_value(stream, setting.protocol, self.metric, method, part.detectors, self.seeds))
        value = float(np.mean(found))
        return SettingScore(value, value if self.metric == "accuracy" else None)


def plan_strategy(
    name: str,
    stream: Stream,
    request: ChainRequest,
    backbone: str,
    by_head: Mapping[str, tuple[Candidates, ...]],
    effort: Effort,
    metric: Metric,
) -> StrategyStudy:
    """The study of a strategy on a stream and backbone, with the paper's fits; `settled` gives it its name.

    Args:
        name: Of the stream.
        stream: Cut by `validation_part`.
        request: Protocol and strategy.
        backbone: By name.
        by_head: The detectors of each head.
        effort: How much is searched.
        metric: What counts.

    Raises:
        UsageError: The stream has no year before t0 that could be learned, or the grid is too large.
    """
    rehearsed(stream, request.setting.protocol)
    split = request.setting.protocol.build().split
    space = strategy_space(request.asked)
    points = size(space)
    return StrategyStudy(
        name="",
        stream=name,
        split=split,
        setting=request.setting,
        backbone=backbone,
        parts=tuple(HeadPart(head, found, preset(name, split, backbone, head)) for head, found in by_head.items()),
        space=space,
        points=points,
        metric=metric,
        budget=effort.budget,
        seeds=effort.seeds,
        trials=grid_trials(f"{request.asked} on {name}", points, effort.trials),
        checksum=stream_checksum(stream),
    )


def settled(study: StrategyStudy, stream: Stream, presets: PresetFile | None) -> StrategyStudy:
    """The study with the fits that a preset file has for it, and the name that goes with them.

    Args:
        study: Whose fits are the paper's, or those of an earlier state of the file.
        stream: Cut by `validation_part`.
        presets: The file; None if there is none yet.
    """
    parts = []
    for part in study.parts:
        where = (study.stream, study.split, study.backbone, part.head)
        tuned = presets.fit(*where) if presets else None
        parts.append(part._replace(base=tuned or preset(*where)))
    where_fitted = (stream, study.setting.protocol, study.backbone)
    described = {
        "fits": [
            fit_key(*where_fitted, part.head, part.base, study.checksum, study.setting.strategy) for part in parts
        ],
        "detectors": [[asdict(one) for one in part.detectors] for part in parts],
        "sources": [[answer_digest(parse(one.plain)) for one in part.detectors] for part in parts],
        "metric": study.metric,
        "budget": asdict(study.budget),
        "seeds": study.seeds,
        "space": study.space,
        "rehearsed": REHEARSED,
        "format": _FORMAT,
    }
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
    return replace(study, name=f"tune-{digest[:16]}", parts=tuple(parts))
