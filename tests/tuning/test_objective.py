from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.core.expressions import complete, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.msp import Msp
from lgl_bench.plans.paper_presets import grid
from lgl_bench.plans.preset_file import load_presets
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.splits import TEST
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.tuning import fit_study
from lgl_bench.tuning import objective as tune_score
from lgl_bench.tuning.space import candidates
from tests.support.answers import aurocs
from tests.support.graphs import small_stream
from tests.support.tuning import scrambled


@pytest.mark.parametrize("metric", ["accuracy", "auroc"])
def test_scrambled_test_vertices_of_a_static_graph_give_the_same_values(tune, monkeypatch, metric):
    stream = small_stream(static=True)
    other = scrambled(stream, np.flatnonzero(stream.split == TEST))
    asked = {"suite": "planetoid", "metric": metric, "trials": 1}
    # The checksum is that of the whole graph, so the name and with it the suggestions would differ.
    monkeypatch.setattr(fit_study, "stream_checksum", lambda stream: "")
    first, second = tune("a", stream=stream, **asked), tune("b", stream=other, **asked)
    assert first.spec.metric == metric
    assert tune.values("a") == tune.values("b") and first.entry == second.entry


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
        tables.append(aurocs(answers, truth))
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
    values = list(aurocs(answers, truth).values())
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


@pytest.fixture
def noisy():
    """A detector that draws random numbers while it scores."""

    class Noisy(Msp):
        def score(self, model, graph):
            torch.rand(1)
            return super().score(model, graph)

    with detectors.temporarily():
        detectors.register("noisy")(Noisy)
        yield


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
