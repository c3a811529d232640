"""What a study leaves in the preset file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lgl_bench.core.versions import versions
from lgl_bench.plans.preset_entries import DetectorEntry, FitEntry, StrategyEntry, Tuned
from lgl_bench.tuning.fit_study import FitStudy
from lgl_bench.tuning.strategy_study import StrategyStudy

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


def fit_entry(spec: FitStudy, best: FrozenTrial, trials: int) -> FitEntry:
    """The best fit, with the detectors that were chosen on it."""
    preset = spec.at(best.params)
    counts = [one.count for one in spec.detectors]
    chosen = [
        DetectorEntry(expression=expression, auroc=auroc, candidates=count)
        for (expression, auroc), count in zip(best.user_attrs["chosen"], counts, strict=False)
    ]
    return FitEntry(
        stream=spec.stream,
        split=spec.split,
        backbone=spec.backbone,
        head=spec.head,
        epochs=preset.training.epochs,
        lr=preset.training.lr,
        parameters=preset.backbone,
        studies={spec.name: trials},
        detectors=tuple(chosen),
        tuned=_tuned(spec, best, spec.protocol.name),
    )


def strategy_entry(study: StrategyStudy, best: FrozenTrial, trials: int) -> StrategyEntry:
    """The best parameters of a strategy."""
    return StrategyEntry(
        stream=study.stream,
        split=study.split,
        backbone=study.backbone,
        strategy=study.strategy,
        parameters=study.values(best.params),
        studies={study.name: trials},
        tuned=_tuned(study, best, study.setting.protocol.name),
    )


def _tuned(spec: FitStudy | StrategyStudy, best: FrozenTrial, protocol: str) -> Tuned:
    assert best.value is not None
    return Tuned(
        metric=spec.metric,
        value=best.value,
        seeds=spec.seeds,
        budget=spec.budget.name,
        search=spec.search,
        protocol=protocol,
        checksum=spec.checksum,
        **versions("lgl_bench"),
    )
