from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import time

import optuna
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.tuning.study import MAX_RETRIES, open_storage, require_optuna, run_study


@pytest.fixture
def storage(tmp_path, empty):
    shutil.copy(empty, tmp_path / "tuning.db")
    return open_storage(f"sqlite:///{tmp_path / 'tuning.db'}")


def go_on(storage, target, objective=lambda trial: trial.suggest_float("x", 0, 1)):
    return run_study(storage, "study", target, lambda rank: optuna.samplers.RandomSampler(seed=rank), objective)


def test_a_trial_that_runs_on_another_machine_is_left_alone_and_counts(storage):
    go_on(storage, 1)
    study = optuna.load_study(study_name="study", storage=storage)
    with pytest.warns(UserWarning, match="Heartbeat"):
        trial = study.ask()
    trial.set_user_attr("worker", {"host": "elsewhere", "pid": 1, "started": 0.0})
    assert len(go_on(storage, 4)) == 3
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "RUNNING", "COMPLETE", "COMPLETE"]


def test_a_trial_of_a_machine_that_gives_no_sign_of_life_is_tried_again(storage):
    go_on(storage, 1)
    study = optuna.load_study(study_name="study", storage=storage)
    with pytest.warns(UserWarning, match="Heartbeat"):
        trial = study.ask()
    trial.set_user_attr("worker", {"host": "elsewhere", "pid": 1, "started": 0.0})
    value = trial.suggest_float("x", 0, 1)
    storage.record_heartbeat(trial._trial_id)
    assert len(go_on(storage, 2)) == 1
    storage.grace_period = 1
    time.sleep(2.1)
    assert [trial.value for trial in go_on(storage, 2)][1] == value


def test_a_trial_that_kills_its_process_every_time_is_given_up(storage):
    def deadly(trial):
        trial.suggest_float("x", 0, 1)
        raise KeyboardInterrupt

    for _ in range(MAX_RETRIES + 1):
        with pytest.raises(KeyboardInterrupt):
            go_on(storage, 1, deadly)
    (trial,) = go_on(storage, 1)
    assert trial.state.name == "FAIL" and len(go_on(storage, 2)) == 2
    study = optuna.load_study(study_name="study", storage=storage)
    assert len({trial.params["x"] for trial in study.trials[: MAX_RETRIES + 1]}) == 1, "it is the same one"


def _open_together(barrier, place: str) -> None:
    barrier.wait()
    open_storage(place)
    os._exit(0)


def test_processes_that_begin_together_can_all_open_a_new_storage(tmp_path, empty):
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    target = (barrier, f"sqlite:///{tmp_path / 'new.db'}")
    processes = [context.Process(target=_open_together, args=target) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]


def test_a_storage_that_cannot_be_opened_is_named_without_its_password():
    with pytest.raises(DataError, match="nodatabase://... cannot be opened") as error:
        open_storage("nodatabase://me:secret@localhost/x")
    assert "secret" not in str(error.value)


def test_a_machine_without_optuna_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UsageError, match=r"pip install 'lgl-bench\[tune\]'"):
        require_optuna()
