"""An Optuna study that outlives its process: opened by name, gone on with, killed trials tried again.

A trial that failed by itself carries a reason. One without a reason was killed with its process, and is put back in
the queue with the parameters it had.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from lgl_bench.core.errors import DataError, UsageError

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

MAX_RETRIES = 3
HEARTBEAT = 60
"""Seconds between two signs of life of a trial; one that gave none three times is taken for dead."""


def require_optuna() -> None:
    """Raises if Optuna, which comes with an extra, is not installed; otherwise makes it quiet."""
    try:
        import optuna
    except ImportError as error:
        raise UsageError("tuning needs Optuna: pip install 'lgl-bench[tune]'") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)


def open_storage(url: str) -> optuna.storages.RDBStorage:
    """The database of an Optuna storage URL; it is made if it does not exist."""
    require_optuna()
    kind, _, place = url.partition("://")
    try:
        if kind == "sqlite":
            Path(place.removeprefix("/")).parent.mkdir(parents=True, exist_ok=True)
        return _connect(url, kind)
    except Exception as error:
        # A URL may hold a password.
        reason = (str(error).replace(url, f"{kind}://...").splitlines() or [""])[0]
        raise DataError(f"the storage {kind}://... cannot be opened: {type(error).__name__}: {reason}") from error


def _connect(url: str, kind: str, tries: int = 5) -> optuna.storages.RDBStorage:
    import optuna
    import sqlalchemy.exc

    # Several processes may write at once; SQLite lets one at a time.
    wait = {"connect_args": {"timeout": 60}} if kind == "sqlite" else {}
    try:
        return optuna.storages.RDBStorage(
            url, engine_kwargs=wait, heartbeat_interval=HEARTBEAT, grace_period=3 * HEARTBEAT
        )
    except sqlalchemy.exc.DBAPIError:
        # Two processes that begin together both make the tables, and one of them comes too late.
        if tries == 1:
            raise
        time.sleep(0.5)
        return _connect(url, kind, tries - 1)


def run_study(
    storage: optuna.storages.RDBStorage,
    name: str,
    target: int,
    sampler: Callable[[int], optuna.samplers.BaseSampler],
    objective: Callable[[optuna.Trial], float],
    prune: bool = True,
    on_trial: Callable[[Sequence[FrozenTrial]], None] | None = None,
) -> list[FrozenTrial]:
    """Goes on with a study until it has so many trials, and returns those that count.

    Args:
        storage: Where it is kept.
        name: The study is made if there is none of that name.
        target: Trials in all, those of earlier and of other processes among them.
        sampler: From the rank of a trial, so that what is suggested does not depend on restarts.
        objective: A value to maximise. It leaves a `reason` among the trial's attributes if it raises.
        prune: Whether trials below the median of the others are given up.
        on_trial: Called with the trials that count, before the first and after each.
    """
    import optuna

    pruners = optuna.pruners
    study = optuna.create_study(
        storage=storage,
        study_name=name,
        direction="maximize",
        load_if_exists=True,
        sampler=optuna.samplers.RandomSampler(),
        pruner=pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=1) if prune else pruners.NopPruner(),
    )

    def marked(trial: optuna.Trial) -> float:
        trial.set_user_attr("worker", _worker())
        return objective(trial)

    while True:
        _retry_killed(study)
        trials = study.get_trials(deepcopy=False)
        counted = counting(trials)
        if on_trial is not None:
            on_trial(counted)
        rank = len(counted) + sum(trial.state == optuna.trial.TrialState.RUNNING for trial in trials)
        if rank >= target:
            return counted
        study.sampler = sampler(rank)
        study.optimize(marked, n_trials=1, catch=(Exception,))


def counting(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """Trials that are over, without those that were killed and tried again."""
    again = {trial.user_attrs.get("retry_of") for trial in trials}
    return [trial for trial in trials if trial.state.is_finished() and trial.number not in again]


def _retry_killed(study: optuna.Study) -> None:
    import optuna

    states = optuna.trial.TrialState
    # A grid sampler wants to stop the loop it thinks it is in.
    study.sampler = optuna.samplers.RandomSampler()
    optuna.storages.fail_stale_trials(study)  # those of machines that give no sign of life
    for trial in study.get_trials(deepcopy=False, states=(states.RUNNING,)):
        if _dead(trial.user_attrs.get("worker")):
            study.tell(trial.number, state=states.FAIL)
    trials = study.get_trials(deepcopy=False)
    again = {trial.user_attrs.get("retry_of") for trial in trials}
    for trial in trials:
        retries = trial.user_attrs.get("retries", 0)
        killed = trial.state == states.FAIL and "reason" not in trial.user_attrs and trial.number not in again
        if killed and retries < MAX_RETRIES:
            study.add_trial(
                optuna.trial.create_trial(
                    state=states.WAITING,
                    params=trial.params,
                    distributions=trial.distributions,
                    user_attrs={"retry_of": trial.number, "retries": retries + 1},
                    system_attrs=dict(trial.system_attrs),  # a grid's point among them
                )
            )


def _worker() -> dict[str, Any]:
    """This process, distinguished from a later one with the same number."""
    return {"host": _host(), "pid": os.getpid(), "started": psutil.Process().create_time()}


def _host() -> str:
    return f"{socket.gethostname()}-{uuid.getnode():x}"


def _dead(worker: dict[str, Any] | None) -> bool:
    """Whether a worker of this machine is gone; for one of another machine only missing heartbeats show it."""
    if not worker or worker["host"] != _host():
        return False
    try:
        return bool(psutil.Process(worker["pid"]).create_time() != worker["started"])
    except psutil.NoSuchProcess:
        return True
