"""Tuning on small streams: what is looked at, what is tried again, what is written."""

from __future__ import annotations

import multiprocessing
import os

import numpy as np
import optuna
import pytest

from lgl_bench.backbones import backbones
from lgl_bench.backbones.gcn import GCN
from lgl_bench.detectors import Detector, detectors
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.preset_file import load_presets
from lgl_bench.runs.options import Settings
from lgl_bench.training.trainer import Fit
from lgl_bench.tuning import fit_study
from lgl_bench.tuning import objective as tune_score
from lgl_bench.tuning import plan as tune_plan
from tests.support.graphs import small_stream
from tests.support.tuning import T1, Tuner, scrambled


# what is looked at
def test_scrambled_later_years_give_the_identical_study(tune):
    stream = small_stream()
    other = scrambled(stream, np.flatnonzero(stream.born > T1))
    asked = {"detectors": ["good(odin(temperature=10))"], "seeds": 2, "trials": 3}
    first, second = tune("a", stream=stream, **asked), tune("b", stream=other, **asked)
    assert first.spec.metric == "auroc"
    assert first.spec.name == second.spec.name
    assert tune.values("a") == tune.values("b") and len(tune.values("a")) == 3
    assert first.entry == second.entry
    assert tune.plan("c", stream=scrambled(stream, np.flatnonzero(stream.born == T1))).specs[0].name != first.spec.name


def test_a_leak_of_later_years_would_show_in_the_values(tune, monkeypatch):
    stream = small_stream()
    other = scrambled(stream, np.flatnonzero(stream.born > T1))
    monkeypatch.setattr(tune_plan, "validation_part", lambda stream: stream)
    monkeypatch.setattr(tune_score, "validation_tasks", lambda stream, s, m, seed: s.build().tasks(stream, seed))
    tune("a", stream=stream, trials=2)
    tune("b", stream=other, trials=2)
    assert [value for _, value in tune.values("a")] != [value for _, value in tune.values("b")]


def test_a_grid_visits_every_point_once_and_then_rests(tune, monkeypatch):
    tiny = {"layers": (2.0, 3.0), "hidden": (4.0,), "dropout": (0.5,), "lr": (0.02, 0.05, 0.1), "epochs": (3.0,)}
    monkeypatch.setattr(fit_study, "fit_space", lambda *_: tiny)
    found = tune(search="grid", trials=None)
    assert found.spec.points == found.completed == tune.fits == 6
    points = {tuple(sorted(trial.params.items())) for trial in tune.trials()}
    assert len(points) == 6
    assert tune(search="grid", trials=None).completed == 6 and tune.fits == 0
    assert tune("b", search="grid", trials=2).completed == 2


# what is tried again
def test_a_study_goes_on_where_it_stopped_and_ends_as_one_that_never_did(tune):
    tune("a", trials=2)
    tune("a", trials=2)
    assert tune.fits == 0
    found = tune("a", trials=5)
    assert tune.fits == 3 and found.completed == 5
    assert tune("b", trials=5).entry == found.entry
    assert tune.values("a") == tune.values("b")
    assert len({tuple(params.items()) for params, _ in tune.values("a")}) == 5


def _die_in_the_third_trial(tuner: Tuner, interrupt: bool) -> None:
    original = tune_score.train

    def train(*arguments):
        if tuner.fits == 2:
            if interrupt:
                raise KeyboardInterrupt
            os._exit(9)
        return original(*arguments)

    tune_score.train = train
    try:
        tuner("killed", trials=4)
    finally:
        tune_score.train = original


@pytest.mark.parametrize("interrupt", [True, False], ids=["interrupted", "killed"])
def test_a_trial_that_was_killed_is_tried_again_and_the_study_ends_as_an_undisturbed_one(tune, interrupt):
    if interrupt:
        with pytest.raises(KeyboardInterrupt):
            _die_in_the_third_trial(tune, interrupt)
    else:
        process = multiprocessing.get_context("fork").Process(target=_die_in_the_third_trial, args=(tune, interrupt))
        process.start()
        process.join(60)
        assert process.exitcode == 9
        assert tune.trials("killed")[2].state == optuna.trial.TrialState.RUNNING
    found = tune("killed", trials=4)
    whole = tune("whole", trials=4)
    assert found.completed + found.pruned == 4 and not found.failed
    assert found.entry == whole.entry
    again = [(trial.params, trial.value) for trial in tune.trials("killed") if trial.state.name != "FAIL"]
    assert again == tune.values("whole")


def test_a_setting_that_was_tried_is_not_fitted_again(tune, monkeypatch):
    tiny = {"layers": (2.0,), "hidden": (4.0,), "dropout": (0.5,), "lr": (0.1,), "epochs": (3.0,)}
    monkeypatch.setattr(fit_study, "fit_space", lambda *_: tiny)
    found = tune(trials=4)
    assert tune.fits == 1 and found.completed == 4
    assert len({value for _, value in tune.values()}) == 1 and found.entry.detectors


# what fails, what is given up
@pytest.fixture
def picky():
    """A backbone that does not like three layers."""

    class Picky(GCN):
        def __init__(self, shape, hidden=8, layers=2, dropout=0.5):
            super().__init__(shape, hidden, layers, dropout)
            if layers == 3:
                raise ValueError("three are too many")

    with backbones.temporarily():
        backbones.register("picky")(Picky)
        yield


def test_a_trial_whose_plugin_raises_fails_with_its_reason_and_the_study_goes_on(tune, picky):
    found = tune(backbones=["picky"], trials=6)
    assert found.completed + found.pruned + sum(found.failed.values()) == 6
    assert list(found.failed) == ["ValueError: three are too many"] and found.completed > 0
    assert found.entry.trials == found.completed + found.pruned
    assert found.entry.parameters["layers"] != 3
    failed = sum(found.failed.values())
    assert tune(backbones=["picky"], trials=6).failed == {"ValueError: three are too many": failed}
    assert tune.fits == 0, "a trial that failed by itself is over"


def test_a_study_that_only_diverges_gives_nothing_and_says_why(tune, monkeypatch):
    monkeypatch.setattr(tune_score, "train", lambda *_: Fit("diverged", "the loss was nan in epoch 2", 2, 0.0, 0.0))
    found = tune(trials=2)
    assert found.entry is None and found.failed == {"diverged: the loss was nan in epoch 2": 2}
    assert not (tune.folder / "out" / "mine.toml").exists()


def test_a_detector_that_raises_fails_its_trials_with_its_name(tune):
    class Raises(Detector):
        def score(self, model, graph):
            raise RuntimeError("no luck")

    with detectors.temporarily():
        detectors.register("raises")(Raises)
        found = tune(detectors=["raises"], trials=2)
    assert found.failed == {"the detector raises failed: RuntimeError: no luck": 2}


# what is written
def test_the_preset_says_how_it_came_about_and_counts_the_trials(tune):
    found = tune(trials=3, detectors=["good(msp)"], name="best")
    file = load_presets(tune.folder / "out" / "mine.toml")
    assert file.name == "best" and file.fits == (found.entry,)
    assert file.entry("small", "temporal", "gcn", "softmax").trials == 3
    (entry,) = file.fits
    assert entry.studies == {found.spec.name: 3}
    assert (entry.tuned.metric, entry.tuned.budget, entry.tuned.search, entry.tuned.seeds) == (
        "auroc",
        "smoke",
        "tpe",
        1,
    )
    assert set(file.detector("small", "temporal", "gcn", "good(msp)")) == {"alpha"}
    tune(trials=5, detectors=["good(msp)"])
    assert load_presets(tune.folder / "out" / "mine.toml").trials == 5


def test_graphsage_keeps_how_it_samples(tune):
    found = tune(backbones=["graphsage"], trials=1)
    fitted = load_presets(tune.folder / "out" / "mine.toml").fit("small", "temporal", "graphsage", "softmax")
    assert fitted.backbone["fanout"] == (50, 20) and fitted.backbone["batch"] == 0.2
    assert found.entry.parameters["fanout"] == (50, 20)


def test_a_run_takes_the_preset_and_says_how_many_trials_are_behind_it(tune):
    found = tune(detectors=["good(odin(temperature=1))"])
    out = tune.folder / "out" / "mine.toml"
    settings = Settings(tune.folder / "run", data_dir=tune.folder / "data1", offline=True, preset=out)
    asked = {"streams": ["small"], "backbones": ["gcn"], "detectors": ["good(odin)", "gdoc"]}
    plan, _ = plan_run("smoke", settings, budget="smoke", **asked)
    good, gdoc = plan.rows[:2]
    assert good.detector == found.entry.detectors[0].expression
    assert (good.preset, good.trials) == ("mine", 2) and gdoc.trials == 0 and gdoc.preset.startswith("paper")
    (chain,) = [chain for chain in plan.units if chain.head == "softmax"]
    assert chain.parameters == found.entry.parameters and chain.lr == found.entry.lr
