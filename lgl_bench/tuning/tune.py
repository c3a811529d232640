"""Tuning: an Optuna study for each stream, backbone and head, scored on validation tasks only.

A study's name is a hash of what determines it, so the same command goes on where it stopped, on one machine or on
many that share a storage. What a trial suggests depends on its rank and on the trials before it, not on when a process
was started: a search that was killed and taken up again is the search that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.seeds import derive
from lgl_bench.core.versions import versions
from lgl_bench.plans.preset_entries import DetectorEntry, FitEntry, Tuned
from lgl_bench.plans.preset_file import write_presets
from lgl_bench.runs.isolation.requests import use_threads
from lgl_bench.runs.scoring import Method
from lgl_bench.streams.stream import Stream
from lgl_bench.tuning.objective import score_setting
from lgl_bench.tuning.plan import StudySpec, Tuning
from lgl_bench.tuning.space import free, suggest
from lgl_bench.tuning.study import open_storage, run_study

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

OnTrial = Callable[[StudySpec, int, float | None], None]
"""Called with a study, its trials so far and the best value."""


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What came of a study.

    Attributes:
        completed: Trials with a value.
        pruned: Trials given up on the way.
        failed: Trials that failed, with how often each reason came.
        entry: What goes into the preset file; None if every trial failed.
    """

    spec: StudySpec
    completed: int
    pruned: int
    failed: dict[str, int]
    entry: FitEntry | None


def run_tuning(tuning: Tuning, on_trial: OnTrial | None = None) -> list[StudyResult]:
    """Runs every study and writes the preset file after each."""
    use_threads(1)  # sums change with threads
    storage = open_storage(tuning.storage)
    results = []
    for spec in tuning.specs:
        result = _run(tuning, spec, storage, on_trial)
        if result.entry is not None:
            write_presets(tuning.out, [result.entry], tuning.name)
        results.append(result)
    return results


def _run(tuning: Tuning, spec: StudySpec, storage: optuna.storages.RDBStorage, on_trial: OnTrial | None) -> StudyResult:
    stream = tuning.streams[spec.stream]

    def report(trials: Sequence[FrozenTrial]) -> None:
        if on_trial is not None:
            on_trial(spec, len(trials), max((t.value for t in trials if t.value is not None), default=None))

    objective = _objective(spec, stream, tuning.prune)
    trials = run_study(storage, spec.name, spec.trials, _sampler(spec), objective, tuning.prune, report)
    return _result(spec, trials)


def _sampler(spec: StudySpec) -> Callable[[int], optuna.samplers.BaseSampler]:
    import optuna

    def sampler(rank: int) -> optuna.samplers.BaseSampler:
        if spec.search == "grid":
            # One seed for all: it shuffles the points that the numbers of trials stand for.
            points = {name: list(values) for name, values in free(spec.space).items()}
            return optuna.samplers.GridSampler(points, seed=_seed(spec))
        return optuna.samplers.TPESampler(seed=_seed(spec, rank))

    return sampler


def _seed(spec: StudySpec, *axes: int) -> int:
    # Not of the study's name, which covers code: an edited comment must not draw other settings.
    fixed = (spec.stream, spec.split, spec.backbone, spec.head, spec.metric, spec.search, spec.seeds)
    return derive(0, "tune", *fixed, *axes) % 2**32


def _objective(spec: StudySpec, stream: Stream, prune: bool) -> Callable[[optuna.Trial], float]:
    import optuna

    def objective(trial: optuna.Trial) -> float:
        preset = spec.at(suggest(trial, spec.space, spec.search))
        for other in trial.study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)):
            if spec.at(other.params) == preset:
                # A fit is deterministic: the same setting has the same value.
                assert other.value is not None
                trial.set_user_attr("chosen", other.user_attrs["chosen"])
                return other.value

        def report(step: int, value: float) -> None:
            trial.report(value, step)
            if trial.should_prune():
                raise optuna.TrialPruned

        method = Method(spec.backbone, spec.head, preset, ())
        try:
            scored = score_setting(
                stream, spec.protocol, spec.metric, method, spec.detectors, spec.seeds, report if prune else None
            )
        except optuna.TrialPruned:
            raise
        except Exception as error:  # a plugin may raise anything; only its own trial fails
            trial.set_user_attr("reason", _reason(error))
            raise
        trial.set_user_attr("chosen", scored.chosen)
        return scored.value

    return objective


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, LglBenchError) else f"{type(error).__name__}: {error}"


def _result(spec: StudySpec, trials: Sequence[FrozenTrial]) -> StudyResult:
    from optuna.trial import TrialState

    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    pruned = sum(trial.state == TrialState.PRUNED for trial in trials)
    failed: dict[str, int] = {}
    for trial in trials:
        if trial.state == TrialState.FAIL:
            reason = trial.user_attrs.get("reason", "its process was killed again and again")
            failed[reason] = failed.get(reason, 0) + 1
    best = max(complete, key=lambda trial: (trial.value, -trial.number), default=None)
    entry = None if best is None else _entry(spec, best, len(complete) + pruned)
    return StudyResult(spec, len(complete), pruned, failed, entry)


def _entry(spec: StudySpec, best: FrozenTrial, trials: int) -> FitEntry:
    preset = spec.at(best.params)
    counts = [one.count for one in spec.detectors]
    chosen = [
        DetectorEntry(expression=expression, auroc=auroc, candidates=count)
        for (expression, auroc), count in zip(best.user_attrs["chosen"], counts, strict=False)
    ]
    assert best.value is not None
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
        tuned=Tuned(
            metric=spec.metric,
            value=best.value,
            seeds=spec.seeds,
            budget=spec.budget.name,
            search=spec.search,
            protocol=spec.protocol.name,
            checksum=spec.checksum,
            **versions("lgl_bench"),
        ),
    )
