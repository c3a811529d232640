"""From a suite to the studies that tune it: one per stream, backbone and head, or strategy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.members import members_of
from lgl_bench.detectors import detectors as all_detectors
from lgl_bench.detectors import head_of
from lgl_bench.plans.backbone_settings import resolve_backbone
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.plans.preset_file import PresetFile, check_target, load_presets
from lgl_bench.plans.settings import ChainRequest, chain_requests
from lgl_bench.plans.suite import Suite, load_suite
from lgl_bench.plans.suited import check_suited, suited_texts
from lgl_bench.streams.stand_ins import open_streams
from lgl_bench.streams.stream import Stream
from lgl_bench.tuning.effort import Effort, effort_of
from lgl_bench.tuning.fit_study import FitStudy, plan_fit
from lgl_bench.tuning.space import Candidates, Search, candidates, strategy_space
from lgl_bench.tuning.strategy_study import StrategyStudy, plan_strategy, settled
from lgl_bench.tuning.tasks import Metric, usable_metric, validation_part


@dataclass(frozen=True, slots=True)
class Tuning:
    """All studies of a command, those of fits first, and where they are kept.

    Attributes:
        streams: Cut after the year that is scored.
        stand_ins: Real stream to why its twin was taken.
    """

    specs: tuple[FitStudy | StrategyStudy, ...]
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
    strategies: Sequence[str] = (),
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
        strategies: The same. Those that have something to search are tuned themselves, and the fit is not.
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
    axes = load_suite(suite).override(
        streams=tuple(streams), backbones=tuple(backbones), detectors=tuple(detectors), strategies=tuple(strategies)
    )
    effort = effort_of(budget, seeds, search, trials)
    check_suited(axes)
    check_target(out, name)
    _check_backbones(axes.backbones)
    opened, stand_ins = open_streams(axes.streams, data_dir, real_only=real_only, offline=offline)
    cut = {key: validation_part(stream) for key, stream in opened.items()}
    specs = _specs(axes, cut, effort, metric, load_presets(out) if out.exists() else None)
    if not specs:
        raise UsageError(
            "good(auto) chooses its detector and alpha while it runs, and an ensemble is tuned by what it wraps; name "
            "a detector to tune"
        )
    place = storage or f"sqlite:///{(out.parent / 'tuning.db').resolve()}"
    return Tuning(specs, cut, stand_ins, out, name, place, prune)


def _check_backbones(names: Sequence[str]) -> None:
    for backbone in names:
        if resolve_backbone(backbone).given:
            raise UsageError(
                f"'{backbone}': backbones are tuned by name, and a run puts what an expression gives in the place of "
                f"what was tuned; give --backbone {plugin_name(backbone)}"
            )


def _specs(
    axes: Suite, streams: Mapping[str, Stream], effort: Effort, metric: Metric | None, presets: PresetFile | None
) -> tuple[FitStudy | StrategyStudy, ...]:
    fits: list[FitStudy | StrategyStudy] = []
    chosen: list[FitStudy | StrategyStudy] = []
    for key, stream in streams.items():
        requests = chain_requests(axes.on(key))
        searched = [one for one in requests if one.setting.strategy.name and strategy_space(one.asked)]
        # The first fit of a stream does not depend on its strategy: one search is for all that have nothing to search.
        plain = list(dict.fromkeys(one.setting.protocol for one in requests if one not in searched))
        fits += _fits(axes, {key: stream}, plain, effort, metric)
        chosen += _strategies(axes, {key: stream}, searched, effort, metric, presets)
    return *fits, *chosen


def _fits(
    axes: Suite,
    streams: Mapping[str, Stream],
    settings: Sequence[ProtocolSetting],
    effort: Effort,
    metric: Metric | None,
) -> Iterator[FitStudy]:
    for (key, stream), setting in product(streams.items(), settings):
        usable = usable_metric(stream, setting, metric)
        for backbone in axes.backbones:
            for head, found in _by_head(axes, key, setting, backbone).items():
                yield plan_fit(key, stream, setting, backbone, head, found, effort, usable)


def _strategies(
    axes: Suite,
    streams: Mapping[str, Stream],
    requests: Sequence[ChainRequest],
    effort: Effort,
    metric: Metric | None,
    presets: PresetFile | None,
) -> Iterator[StrategyStudy]:
    for (key, stream), request in product(streams.items(), requests):
        usable = usable_metric(stream, request.setting.protocol, metric)
        for backbone in axes.backbones:
            found = _by_head(axes, key, request.setting.protocol, backbone)
            if found:
                study = plan_strategy(key, stream, request, backbone, found, effort, usable)
                yield settled(study, stream, presets)


def _by_head(axes: Suite, stream: str, setting: ProtocolSetting, backbone: str) -> dict[str, tuple[Candidates, ...]]:
    """Detectors by head, without `good(auto)`, which chooses while it runs, and without ensembles.

    The members of an ensemble are fitted with what is found for a single model.
    """
    heads: dict[str, tuple[Candidates, ...]] = {}
    split = setting.build().split
    for text in suited_texts(axes, backbone):
        if parse(text) == parse("good(auto)"):
            continue
        found = candidates(text, stream, split, backbone)
        if members_of(found.plain) > 1:
            continue
        head = head_of(build(parse(found.plain), all_detectors))
        if found not in heads.get(head, ()):
            heads[head] = (*heads.get(head, ()), found)
    return heads
