"""Tuning on small streams: what is looked at, what is tried again, what is written."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import optuna
import pytest
import torch

from lgl_bench.api import Settings, plan_run
from lgl_bench.backbones import backbones
from lgl_bench.backbones.gcn import GCN
from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.msp import Msp
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.splits import TEST
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs import tune_plan, tune_score
from lgl_bench.runs.answers import answer_tasks
from lgl_bench.runs.budget import budget
from lgl_bench.runs.evaluate import grade
from lgl_bench.runs.preset_file import load_presets
from lgl_bench.runs.presets import grid, preset
from lgl_bench.runs.scoring import Method
from lgl_bench.runs.tune import run_tuning
from lgl_bench.runs.tune_plan import plan_tuning
from lgl_bench.runs.tune_space import candidates, fit_space, size
from lgl_bench.runs.tune_study import MOST_RETRIES, open_storage, require_optuna, run_study
from lgl_bench.runs.tune_tasks import usable_metric, validation_part, validation_tasks
from lgl_bench.runs.units import ProtocolSetting
from lgl_bench.streams.store import write_stream
from lgl_bench.streams.stream import Stream, assemble
from lgl_bench.training.trainer import Fit
from tests.graphs import small_stream

TEMPORAL = ProtocolSetting("temporal", restart="warm", label_delay=0)
T1 = 2  # the year after the small stream's t0


class Tuner:
    """The command on one small stream, with what is asked of every test."""

    def __init__(self, folder: Path, empty: Path) -> None:
        self.folder = folder
        self.empty = empty
        self.fits = 0
        self.streams: list[Stream] = []

    def plan(self, out: str = "out", stream: Stream | None = None, suite: str = "smoke", **given):
        if stream is None or not any(stream is known for known in self.streams):
            self.streams.append(small_stream() if stream is None else stream)
        # A folder for each stream: its name stays the same.
        data = self.folder / f"data{len(self.streams)}"
        write_stream(self.streams[-1], data / "small", force=True)
        given = {"backbones": ["gcn"], "detectors": ["msp"], "budget": "smoke", "seeds": 1, "trials": 2, **given}
        given.setdefault("prune", False)
        return plan_tuning(
            suite, self.folder / out / "mine.toml", streams=["small"], data_dir=data, offline=True, **given
        )

    def __call__(self, out: str = "out", **given):
        self.fits = 0
        database = self.folder / out / "tuning.db"
        if not database.exists():
            database.parent.mkdir()
            shutil.copy(self.empty, database)
        (result,) = run_tuning(self.plan(out, **given))
        return result

    def trials(self, out: str = "out") -> list[optuna.trial.FrozenTrial]:
        storage = f"sqlite:///{self.folder / out / 'tuning.db'}"
        (name,) = optuna.get_all_study_names(storage)
        return optuna.load_study(study_name=name, storage=storage).trials

    def values(self, out: str = "out") -> list[tuple[dict, float | None]]:
        return [(trial.params, trial.value) for trial in self.trials(out)]


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Path:
    """A database without studies: making its tables takes longer than most of the tests."""
    path = tmp_path_factory.mktemp("tune") / "tuning.db"
    open_storage(f"sqlite:///{path}")
    return path


@pytest.fixture
def tune(tmp_path, monkeypatch, empty) -> Tuner:
    tuner = Tuner(tmp_path, empty)
    original = tune_score.train

    def counted(*arguments):
        tuner.fits += 1
        return original(*arguments)

    monkeypatch.setattr(tune_score, "train", counted)
    return tuner


def scrambled(stream: Stream, vertices: np.ndarray) -> Stream:
    """Other labels, features and edges for some vertices; the others, and the edges among them, as they were."""
    rng = np.random.default_rng(0)
    features, labels = np.array(stream.features), stream.labels.copy()
    features[vertices] = rng.permutation(features[vertices]) * -3
    labels[vertices] = rng.permutation(labels[vertices])
    edges = stream.arcs[:, ::2]
    touched = np.isin(edges, vertices).any(axis=0)
    # Only back in time: an edge must not become visible earlier than its vertex.
    drawn = np.stack([np.repeat(vertices, 4), rng.integers(0, np.repeat(vertices, 4))])
    kept = np.concatenate([edges[:, ~touched], drawn], axis=1)
    return assemble(stream.info, stream.ids, stream.born, labels, features, kept, stream.split)


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


def test_a_temporal_stream_is_cut_after_the_year_that_is_scored():
    stream = small_stream()
    cut = validation_part(stream)
    assert cut.times == (0, 1, T1) and cut.born.max() == T1
    assert cut.arcs.max() < cut.num_vertices == len(cut.labels) == cut.features.shape[0]
    ((task, truth),) = validation_tasks(cut, TEMPORAL, "auroc", 0)
    ((expected, labels), *_) = Temporal().tasks(stream, 0)
    assert (task.role, task.time) == ("validation", T1)
    assert np.array_equal(task.scored, expected.scored) and np.array_equal(truth.labels, labels.labels)
    assert np.array_equal(task.test.edges, expected.test.edges)


@pytest.mark.parametrize("metric", ["accuracy", "auroc"])
def test_scrambled_test_vertices_of_a_static_graph_give_the_same_values(tune, monkeypatch, metric):
    stream = small_stream(static=True)
    other = scrambled(stream, np.flatnonzero(stream.split == TEST))
    asked = {"suite": "planetoid", "metric": metric, "trials": 1}
    # The checksum is that of the whole graph, so the name and with it the suggestions would differ.
    monkeypatch.setattr(tune_plan, "stream_checksum", lambda stream: "")
    first, second = tune("a", stream=stream, **asked), tune("b", stream=other, **asked)
    assert first.spec.metric == metric
    assert tune.values("a") == tune.values("b") and first.entry == second.entry


@pytest.mark.parametrize("metric", ["accuracy", "auroc"])
def test_static_validation_tasks_hold_neither_test_vertices_nor_the_left_out_class(metric):
    stream = small_stream(static=True)
    setting = ProtocolSetting("leave-class-out", split="planetoid")
    found = list(validation_tasks(stream, setting, metric, 0))
    folds = [task.fold for task, _ in found]
    classes = [str(k) for k in range(4)]
    assert folds == (classes if metric == "accuracy" else [f"{k}/{j}" for k, j in itertools.permutations(classes, 2)])
    for task, truth in found:
        out = int(task.fold.split("/")[0])
        inside = (stream.split != TEST) & (stream.labels != out)
        assert task.role == "validation" and task.test.num_vertices == inside.sum()
        assert out not in truth.labels and len(truth.labels) == len(task.scored) > 0
        assert not task.fit_mask[task.calibration].any()


def test_static_accuracy_is_that_of_the_held_out_vertices(tune):
    stream = small_stream(static=True)
    found = tune(stream=stream, suite="planetoid", trials=1)
    chosen = replace(load_presets(tune.folder / "out" / "mine.toml").fit("small", "planetoid", "gcn", "softmax"))
    method = Method("gcn", "softmax", chosen, ())
    values = []
    for task, _ in LeaveClassOut("planetoid").tasks(stream, 0):
        model = tune_score.start_model(task, method, None, 0)
        tune_score.train(model, task, chosen.training, 0)
        held = task.calibration
        values.append((model.predict(task.train.graph)[held] == task.train.labels[held]).mean())
    assert found.entry.tuned.value == pytest.approx(np.mean(values), abs=1e-12)
    assert not found.entry.detectors, "without new vertices there is nothing to choose a detector's parameters on"


def test_the_metric_is_auroc_where_the_year_after_t0_has_new_vertices_else_accuracy(tune):
    assert tune.plan().specs[0].metric == "auroc"
    closed = small_stream(births=(3, 0, 0, 1, 1))
    assert tune.plan(stream=closed).specs[0].metric == "accuracy"
    with pytest.raises(UsageError, match="small cannot be tuned for auroc: no vertex of 2 .* of a new class"):
        tune.plan(stream=closed, metric="auroc")
    assert tune.plan(stream=small_stream(static=True), suite="static").specs[0].metric == "accuracy"


def test_a_protocol_without_new_classes_cannot_be_tuned_for_auroc():
    stream = small_stream(static=True)
    setting = ProtocolSetting("transductive", split="planetoid")
    assert usable_metric(stream, setting, None) == "accuracy"
    with pytest.raises(UsageError, match="transductive protocol has no new class"):
        usable_metric(stream, setting, "auroc")


# what is searched


def test_a_value_is_the_mean_over_seeds_of_the_best_parameters_auroc(tune):
    found = tune(detectors=["odin"], seeds=2, trials=1)
    chosen = load_presets(tune.folder / "out" / "mine.toml").fit("small", "temporal", "gcn", "softmax")
    settings = tuple(map(parse, candidates("odin", "small", "temporal", "gcn").settings))
    assert len(settings) == 15
    tables = []
    for seed in range(2):
        answers, truth = next(
            answer_tasks(small_stream(), Temporal(), Method("gcn", "softmax", chosen, settings), seed)
        )
        tables.append({name: value.value for name, value in grade(answers, truth).auroc.items()})
    means = {name: np.mean([table[name] for table in tables]) for name in tables[0]}
    (detector,) = found.entry.detectors
    assert detector.auroc == found.entry.tuned.value == pytest.approx(max(means.values()), abs=1e-12)
    assert means[detector.expression] == pytest.approx(max(means.values()), abs=1e-12)
    assert detector.candidates == 15


def test_good_is_tuned_to_the_smallest_alpha_that_is_as_good_as_the_best(tune):
    found = tune(detectors=["good(isomax+)"], trials=1)
    chosen = load_presets(tune.folder / "out" / "mine.toml").fit("small", "temporal", "gcn", "isomax+")
    weights = grid("all", "good")["alpha"]
    every = tuple(complete(parse(f"good(isomax+, alpha={alpha})"), detectors) for alpha in weights)
    answers, truth = next(answer_tasks(small_stream(), Temporal(), Method("gcn", "isomax+", chosen, every), 0))
    values = [value.value for value in grade(answers, truth).auroc.values()]
    (detector,) = found.entry.detectors
    assert max(values) > values[0], "the neighbours help on this stream"
    assert detector.auroc == found.entry.tuned.value == pytest.approx(max(values), abs=1e-9)
    assert detector.expression == str(every[values.index(max(values))])


def test_parameters_of_detectors_need_no_fit_of_their_own(tune):
    found = tune(detectors=["odin", "good(odin)", "energy"], seeds=2)
    assert tune.fits == 2 * 2
    assert [one.detector for one in found.entry.detectors] == ["odin", "good(odin)", "energy"]
    odin, good, energy = found.entry.detectors
    assert found.entry.tuned.value == pytest.approx(np.mean([odin.auroc, good.auroc, energy.auroc]))
    assert odin.expression in good.expression, "GOOD stands on the parameters that are best for its base"


def test_parameters_that_an_expression_gives_are_not_searched():
    given = candidates("good(odin(eps=0.05), alpha=0.3)", "cora", "60-20-20", "gcn")
    assert given.alphas == (0.3,)
    assert given.settings == tuple(f"odin(eps=0.05,temperature={t})" for t in (1.0, 10.0, 1000.0))
    free = candidates("good(msp)", "cora", "60-20-20", "gcn")
    assert free.settings == ("msp",) and free.alphas == grid("all", "good")["alpha"]
    with pytest.raises(UsageError, match="no parameter 'alfa'"):
        candidates("good(msp, alfa=0.3)", "cora", "60-20-20", "gcn")


def test_the_space_is_the_papers_grid():
    space = fit_space("60-20-20", "gcn", preset("cora", "60-20-20", "gcn", "softmax"), budget("paper"))
    assert space == grid("static", "all") and size(space) == 2 * 5 * 6 * 4 * 4
    base = preset("dblp-easy", "temporal", "gat", "softmax")
    temporal = fit_space("temporal", "gat", base, budget("paper"))
    assert temporal["hidden"] == (8, 16, 32, 64, 128) and temporal["heads"] == (2, 4, 8)
    assert temporal["lr"] == grid("static", "all")["lr"] and temporal["attn_dropout"] == (0.2, 0.3, 0.4, 0.5)


def test_a_budget_makes_the_space_smaller_and_every_point_keeps_to_it(tune):
    smoke = budget("smoke")
    space = fit_space("temporal", "gcn", preset("dblp-easy", "temporal", "gcn", "softmax"), smoke)
    assert space["hidden"] == (smoke.caps.hidden,) and space["epochs"] == (smoke.caps.steps,)
    assert min(space["lr"]) == smoke.caps.least_lr and max(space["lr"]) == max(grid("static", "all")["lr"])
    assert space["layers"] == grid("temporal", "all")["layers"]
    found = tune(backbones=["gat"])
    assert found.entry.parameters["hidden"] * found.entry.parameters["heads"] <= smoke.caps.hidden
    assert found.entry.epochs == smoke.caps.steps
    assert all(trial.params["lr"] >= smoke.caps.least_lr for trial in tune.trials())


def test_a_grid_visits_every_point_once_and_then_rests(tune, monkeypatch):
    tiny = {"layers": (2.0, 3.0), "hidden": (4.0,), "dropout": (0.5,), "lr": (0.02, 0.05, 0.1), "epochs": (3.0,)}
    monkeypatch.setattr(tune_plan, "fit_space", lambda *_: tiny)
    found = tune(search="grid", trials=None)
    assert found.spec.points == found.completed == tune.fits == 6
    points = {tuple(sorted(trial.params.items())) for trial in tune.trials()}
    assert len(points) == 6
    assert tune(search="grid", trials=None).completed == 6 and tune.fits == 0
    assert tune("b", search="grid", trials=2).completed == 2


def test_an_absurd_grid_is_refused_unless_the_trials_are_capped(tune):
    with pytest.raises(UsageError, match="gcn on small has 1080 points; give --trials N"):
        tune.plan(search="grid", trials=None, budget="paper")
    (spec,) = tune.plan(search="grid", trials=30, budget="paper").specs
    assert (spec.trials, spec.points) == (30, 1080)


def test_detectors_that_share_a_head_share_a_study_and_others_have_their_own(tune):
    specs = tune.plan(detectors=["msp", "energy", "gdoc"], backbones=["gcn", "mlp"]).specs
    assert [(spec.backbone, spec.head, len(spec.detectors)) for spec in specs] == [
        ("gcn", "softmax", 2),
        ("gcn", "gdoc", 1),
        ("mlp", "softmax", 2),
        ("mlp", "gdoc", 1),
    ]
    assert len({spec.name for spec in specs}) == 4


@pytest.mark.parametrize(
    "other",
    [{"seeds": 2}, {"metric": "accuracy"}, {"search": "grid"}, {"detectors": ["energy"]}, {"budget": "quick"}]
    + [{"backbones": ["mlp"]}],
    ids=str,
)
def test_whatever_determines_a_study_is_in_its_name(tune, other):
    assert tune.plan(**other).specs[0].name != tune.plan().specs[0].name == tune.plan(trials=9).specs[0].name


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"trials": 0}, "--trials 0"),
        ({"seeds": -1}, "--seeds -1"),
        ({"backbones": ["gnc"]}, "did you mean 'gcn'"),
        ({"detectors": ["odn"]}, "did you mean 'odin'"),
        ({"detectors": ["good(auto)"]}, r"good\(auto\) chooses"),
        ({"budget": "quik"}, "did you mean 'quick'"),
        ({"name": "paper"}, "would pass for the paper's"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_fitted(tune, given, expected):
    with pytest.raises(UsageError, match=expected):
        tune.plan(**given)


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
    monkeypatch.setattr(tune_plan, "fit_space", lambda *_: tiny)
    found = tune(trials=4)
    assert tune.fits == 1 and found.completed == 4
    assert len({value for _, value in tune.values()}) == 1 and found.entry.detectors


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

    for _ in range(MOST_RETRIES + 1):
        with pytest.raises(KeyboardInterrupt):
            go_on(storage, 1, deadly)
    (trial,) = go_on(storage, 1)
    assert trial.state.name == "FAIL" and len(go_on(storage, 2)) == 2
    study = optuna.load_study(study_name="study", storage=storage)
    assert len({trial.params["x"] for trial in study.trials[: MOST_RETRIES + 1]}) == 1, "it is the same one"


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


# what fails, what is given up


@pytest.fixture
def picky():
    """A backbone that does not like three layers."""

    class Picky(GCN):
        def __init__(self, shape, hidden=8, layers=2, dropout=0.5):
            super().__init__(shape, hidden, layers, dropout)
            if layers == 3:
                raise ValueError("three are too many")

    backbones.register("picky")(Picky)
    yield
    del backbones._plugins["picky"]


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

    detectors.register("raises")(Raises)
    try:
        found = tune(detectors=["raises"], trials=2)
    finally:
        del detectors._plugins["raises"]
    assert found.failed == {"the detector raises failed: RuntimeError: no luck": 2}


@pytest.fixture
def noisy():
    """A detector that draws random numbers while it scores."""

    class Noisy(Msp):
        def score(self, model, graph):
            torch.rand(1)
            return super().score(model, graph)

    detectors.register("noisy")(Noisy)
    yield
    del detectors._plugins["noisy"]


def test_trials_below_the_median_are_given_up_and_looking_changes_no_fit(tune, noisy):
    asked = {"detectors": ["noisy"], "trials": 10, "seeds": 2, "metric": "auroc"}
    pruned, kept = tune("pruned", **asked, prune=True), tune("kept", **asked)
    assert pruned.pruned > 0 and kept.pruned == 0 and kept.completed == 10
    assert pruned.entry.trials == pruned.completed + pruned.pruned == 10
    for left, right in zip(tune.trials("pruned"), tune.trials("kept"), strict=True):
        assert left.params == right.params and not right.intermediate_values
        if left.state.name == "COMPLETE":
            assert left.value == right.value
            assert list(left.intermediate_values) == list(range(1, 11)), "five a fit, two seeds"
            assert len(set(left.intermediate_values.values())) > 5, "the weights of the moment are looked at"
            assert left.intermediate_values[10] == pytest.approx(left.value), "the mean over what is finished"


# what is written


def test_the_preset_says_how_it_came_about_and_counts_the_trials(tune):
    found = tune(trials=3, detectors=["good(msp)"], name="best")
    file = load_presets(tune.folder / "out" / "mine.toml")
    assert file.name == "best" and file.fits == (found.entry,)
    assert file.trials_of("small", "temporal", "gcn", "softmax") == 3
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
