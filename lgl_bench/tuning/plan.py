"""From a suite to the studies that tune it: one per stream, backbone and head."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from lgl_bench.backbones import backbones as all_backbones
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors as all_detectors
from lgl_bench.detectors import head_of
from lgl_bench.plans.budget import Budget
from lgl_bench.plans.budget import budget as budget_of
from lgl_bench.plans.fits import ChainSpec, ProtocolSetting, unit_key
from lgl_bench.plans.paper_presets import Preset, preset
from lgl_bench.plans.preset_file import check_target
from lgl_bench.plans.settings import chain_settings
from lgl_bench.plans.suite import load_suite
from lgl_bench.plans.suited import check_suited, suited_texts
from lgl_bench.runs.answer_digests import answer_digest
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.stand_ins import open_streams
from lgl_bench.streams.stream import Stream
from lgl_bench.tuning.space import Candidates, Search, Space, at, candidates, fit_space, fixed, size
from lgl_bench.tuning.tasks import Metric, usable_metric, validation_part

MAX_POINTS = 200
"""A larger grid has to be asked for with a number of trials."""
TPE_TRIALS = 50
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class StudySpec:
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

    def at(self, point: Mapping[str, float]) -> Preset:
        """What a point of the free parameters stands for, within the budget."""
        return self.budget.cap(at(self.base, {**fixed(self.space), **point}))


@dataclass(frozen=True, slots=True)
class Tuning:
    """All studies of a command, and where they are kept.

    Attributes:
        streams: Cut after the year that is scored.
        stand_ins: Real stream to why its twin was taken.
    """

    specs: tuple[StudySpec, ...]
    streams: dict[str, Stream]
    stand_ins: dict[str, str]
    out: Path
    name: str | None
    storage: str
    prune: bool


def plan_tuning(
    suite: str,
    out: Path,
    *,
    streams: Sequence[str] = (),
    backbones: Sequence[str] = (),
    detectors: Sequence[str] = (),
    search: Search = "tpe",
    trials: int | None = None,
    seeds: int | None = None,
    budget: str = "quick",
    metric: Metric | None = None,
    prune: bool = True,
    storage: str | None = None,
    name: str | None = None,
    data_dir: Path | None = None,
    real_only: bool = False,
    offline: bool = False,
) -> Tuning:
    """The studies of a suite; axes that are given take the place of the suite's.

    Args:
        suite: By name, or a TOML file.
        out: Preset file to write or to add to.
        streams: By name.
        backbones: By name.
        detectors: Expressions; parameters that are given are not searched.
        search: The full grid, or TPE between its ends.
        trials: In all; the whole grid, or 50 with TPE.
        seeds: Fits that a setting is averaged over; the budget's otherwise.
        budget: Caps width and epochs.
        metric: What counts; AUROC if the validation task of a temporal stream has new vertices, else accuracy.
        prune: Whether trials below the median are given up.
        storage: An Optuna URL; a SQLite file beside `out` otherwise.
        name: Of the preset.
        data_dir: Folder of the streams.
        real_only: Whether an absent stream is an error.
        offline: Whether nothing is downloaded.
    """
    axes = load_suite(suite).override(streams=tuple(streams), backbones=tuple(backbones), detectors=tuple(detectors))
    effort = _effort(budget, seeds, search, trials)
    check_suited(axes)
    check_target(out, name)
    for backbone in axes.backbones:
        all_backbones.get(backbone)
    opened, stand_ins = open_streams(axes.streams, data_dir, real_only=real_only, offline=offline)
    cut = {key: validation_part(stream) for key, stream in opened.items()}
    specs = [
        _spec(key, stream, setting, backbone, head, found, effort, usable)
        for key, stream in cut.items()
        for setting, _ in chain_settings(axes)
        for usable in [usable_metric(stream, setting, metric)]
        for backbone in axes.backbones
        for head, found in _by_head(suited_texts(axes, backbone), key, setting.build().split, backbone).items()
    ]
    if not specs:
        raise UsageError("good(auto) chooses its detector and alpha while it runs; name a detector to tune")
    place = storage or f"sqlite:///{(out.parent / 'tuning.db').resolve()}"
    return Tuning(tuple(specs), cut, stand_ins, out, name, place, prune)


class _Effort(NamedTuple):
    """How much is searched, and how; trials are None unless asked for."""

    budget: Budget
    seeds: int
    search: Search
    trials: int | None


def _effort(budget: str, seeds: int | None, search: Search, trials: int | None) -> _Effort:
    limit = budget_of(budget)
    count = limit.seeds if seeds is None else seeds
    for option, value in (("--seeds", count), ("--trials", trials)):
        if value is not None and value < 1:
            raise UsageError(f"{option} {value}: at least one is needed")
    return _Effort(limit, count, search, trials)


def _by_head(texts: Sequence[str], stream: str, split: str, backbone: str) -> dict[str, tuple[Candidates, ...]]:
    """Detectors by head; `good(auto)` chooses while it runs and is left out."""
    heads: dict[str, tuple[Candidates, ...]] = {}
    for text in texts:
        if parse(text) == parse("good(auto)"):
            continue
        found = candidates(text, stream, split, backbone)
        head = head_of(build(parse(found.plain), all_detectors))
        if found not in heads.get(head, ()):
            heads[head] = (*heads.get(head, ()), found)
    return heads


def _spec(
    name: str,
    stream: Stream,
    setting: ProtocolSetting,
    backbone: str,
    head: str,
    detectors: tuple[Candidates, ...],
    effort: _Effort,
    metric: Metric,
) -> StudySpec:
    budget, seeds, search, trials = effort
    split = setting.build().split
    base = preset(name, split, backbone, head)
    space = fit_space(split, backbone, base, budget)
    points = size(space)
    if search == "grid":
        if trials is None and points > MAX_POINTS:
            raise UsageError(
                f"the grid of {backbone} on {name} has {points} points; give --trials N to try N of them "
                f"(--trials {points} for all), or --search tpe"
            )
        trials = min(trials or points, points)
    checksum = stream_checksum(stream)
    described = {
        "fit": _fit_key(stream, setting, backbone, head, base, checksum),
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
    return StudySpec(
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


def _fit_key(stream: Stream, setting: ProtocolSetting, backbone: str, head: str, base: Preset, checksum: str) -> str:
    """What determines a fit apart from what is searched: data, protocol, sources, versions."""
    parameters = tuple(sorted(base.backbone.items()))
    training = base.training
    chain = ChainSpec(stream.name, None, setting, backbone, head, parameters, training.epochs, training.lr, 0)
    chain = replace(chain, steps=training.steps, warm_steps=training.warm_steps)
    return unit_key(chain, checksum, stream.times[-1], "", "")
