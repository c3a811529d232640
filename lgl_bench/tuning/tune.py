"""Tuning: an Optuna study for each stream, backbone and head or strategy, scored on validation tasks only.

A study's name is a hash of what determines it, so the same command goes on where it stopped, on one machine or on
many that share a storage. What a trial suggests depends on its rank and on the trials before it, not on when a process
was started: a search that was killed and taken up again is the search that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lgl_bench.core.errors import LglBenchError
from lgl_bench.core.seeds import derive
from lgl_bench.plans.preset_entries import FitEntry, StrategyEntry
from lgl_bench.plans.preset_file import load_presets, write_presets
from lgl_bench.runs.isolation.requests import use_threads
from lgl_bench.streams.stream import Stream
from lgl_bench.tuning.entries import fit_entry, strategy_entry
from lgl_bench.tuning.fit_study import FitStudy
from lgl_bench.tuning.plan import Tuning
from lgl_bench.tuning.space import free
from lgl_bench.tuning.strategy_study import StrategyStudy, settled
from lgl_bench.tuning.study import open_storage, run_study

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

Spec: TypeAlias = FitStudy | StrategyStudy
OnTrial = Callable[[Spec, int, float | None], None]
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

    spec: Spec
    completed: int
    pruned: int
    failed: dict[str, int]
    entry: FitEntry | StrategyEntry | None


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


def _run(tuning: Tuning, spec: Spec, storage: optuna.storages.RDBStorage, on_trial: OnTrial | None) -> StudyResult:
    stream = tuning.streams[spec.stream]
    if isinstance(spec, StrategyStudy):
        # Fits that were tuned before it, by this command or another, are what it stands on.
        spec = settled(spec, stream, load_presets(tuning.out) if tuning.out.exists() else None)

    def report(trials: Sequence[FrozenTrial]) -> None:
        if on_trial is not None:
            on_trial(spec, len(trials), max((t.value for t in trials if t.value is not None), default=None))

    objective = _objective(spec, stream, tuning.prune)
    trials = run_study(storage, spec.name, spec.trials, _sampler(spec), objective, tuning.prune, report)
    return _result(spec, trials)


def _sampler(spec: Spec) -> Callable[[int], optuna.samplers.BaseSampler]:
    import optuna

    def sampler(rank: int) -> optuna.samplers.BaseSampler:
        if spec.search == "grid":
            # One seed for all: it shuffles the points that the numbers of trials stand for.
            points = {name: list(values) for name, values in free(spec.space).items()}
            return optuna.samplers.GridSampler(points, seed=_seed(spec))
        return optuna.samplers.TPESampler(seed=_seed(spec, rank))

    return sampler


def _seed(spec: Spec, *axes: int) -> int:
    return derive(0, "tune", *spec.seed_axes, *axes) % 2**32


def _objective(spec: Spec, stream: Stream, prune: bool) -> Callable[[optuna.Trial], float]:
    import optuna

    def objective(trial: optuna.Trial) -> float:
        point = spec.suggest(trial)
        setting = spec.at(point)
        for other in trial.study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,)):
            if spec.at(other.params) == setting:
                # A fit is deterministic: the same setting has the same value.
                assert other.value is not None
                trial.set_user_attr("chosen", other.user_attrs["chosen"])
                return other.value

        def report(step: int, value: float) -> None:
            trial.report(value, step)
            if trial.should_prune():
                raise optuna.TrialPruned

        try:
            scored = spec.score(stream, point, report if prune else None)
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


def _result(spec: Spec, trials: Sequence[FrozenTrial]) -> StudyResult:
    from optuna.trial import TrialState

    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    pruned = sum(trial.state == TrialState.PRUNED for trial in trials)
    failed: dict[str, int] = {}
    for trial in trials:
        if trial.state == TrialState.FAIL:
            reason = trial.user_attrs.get("reason", "its process was killed again and again")
            failed[reason] = failed.get(reason, 0) + 1
    best = max(complete, key=lambda trial: (trial.value, *spec.preference(trial)), default=None)
    return StudyResult(spec, len(complete), pruned, failed, _entry(spec, best, len(complete) + pruned))


def _entry(spec: Spec, best: FrozenTrial | None, trials: int) -> FitEntry | StrategyEntry | None:
    if best is None:
        return None
    return strategy_entry(spec, best, trials) if isinstance(spec, StrategyStudy) else fit_entry(spec, best, trials)
