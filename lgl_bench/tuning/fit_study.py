"""The search of a fit: its parameters on one stream, backbone and head, with the detectors that share it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lgl_bench.core.expressions import parse
from lgl_bench.plans.budget import Budget
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.plans.paper_presets import Preset, preset
from lgl_bench.runs.answer_digests import answer_digest
from lgl_bench.runs.scoring import Method
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.stream import Stream
from lgl_bench.tuning.effort import TPE_TRIALS, Effort, fit_key, grid_trials
from lgl_bench.tuning.objective import SettingScore, score_setting
from lgl_bench.tuning.space import Candidates, Search, Space, at, fit_space, fixed, size, suggest
from lgl_bench.tuning.tasks import Metric

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class FitStudy:
    """A search.

    Detectors that share a head share the fit, so they are tuned together: AUROC is then their mean.

    Attributes:
        name: Hash of everything that determines the values of its trials, and of what is searched.
        base: Parameters that are not searched.
        points: Of the full grid.
        trials: How many are wanted in all.
        checksum: Of the part of the stream that is looked at.
    """

    name: str
    stream: str
    split: str
    protocol: ProtocolSetting
    backbone: str
    head: str
    detectors: tuple[Candidates, ...]
    base: Preset
    space: Space
    points: int
    metric: Metric
    budget: Budget
    seeds: int
    search: Search
    trials: int
    checksum: str

    def at(self, point: Mapping[str, Any]) -> Preset:
        """What a point of the free parameters stands for, within the budget."""
        return self.budget.cap(at(self.base, {**fixed(self.space), **point}))

    @property
    def title(self) -> str:
        """What is tuned, for messages."""
        return f"{self.stream} {self.backbone} {self.head}"

    @property
    def seed_axes(self) -> tuple[str | int, ...]:
        """What the order of its trials is drawn from: nothing of the code, so that an edit draws no other settings."""
        return self.stream, self.split, self.backbone, self.head, self.metric, self.search, self.seeds

    def preference(self, trial: FrozenTrial) -> tuple[int, ...]:
        """Larger for what is taken of equal values: the earliest trial."""
        return (-trial.number,)

    def suggest(self, trial: optuna.Trial) -> Mapping[str, Any]:
        """A point of the free parameters."""
        return suggest(trial, self.space, self.search)

    def score(
        self, stream: Stream, point: Mapping[str, Any], report: Callable[[int, float], None] | None
    ) -> SettingScore:
        """What a point is worth."""
        method = Method(self.backbone, self.head, self.at(point), ())
        return score_setting(stream, self.protocol, self.metric, method, self.detectors, self.seeds, report)


def plan_fit(
    name: str,
    stream: Stream,
    setting: ProtocolSetting,
    backbone: str,
    head: str,
    detectors: tuple[Candidates, ...],
    effort: Effort,
    metric: Metric,
) -> FitStudy:
    """The study of a fit.

    Args:
        name: Of the stream.
        stream: Cut by `validation_part`.
        setting: The protocol.
        backbone: By name.
        head: By name.
        detectors: That share the head.
        effort: How much is searched.
        metric: What counts.
    """
    budget, seeds, search, trials = effort
    split = setting.build().split
    base = preset(name, split, backbone, head)
    space = fit_space(split, backbone, base, budget)
    points = size(space)
    if search == "grid":
        trials = grid_trials(f"{backbone} on {name}", points, trials, ", or --search tpe")
    checksum = stream_checksum(stream)
    described = {
        "fit": fit_key(stream, setting, backbone, head, base, checksum),
        "detectors": [asdict(one) for one in detectors],
        "sources": [answer_digest(parse(one.plain)) for one in detectors],
        "metric": metric,
        "budget": asdict(budget),
        "seeds": seeds,
        "search": search,
        "space": space,
        "format": _FORMAT,
    }
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
    return FitStudy(
        name=f"tune-{digest[:16]}",
        stream=name,
        split=split,
        protocol=setting,
        backbone=backbone,
        head=head,
        detectors=detectors,
        base=base,
        space=space,
        points=points,
        metric=metric,
        budget=budget,
        seeds=seeds,
        search=search,
        trials=trials or TPE_TRIALS,
        checksum=checksum,
    )
