from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.types import TrainingParameters
from lgl_bench.detectors import Detector, detectors
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.thresholds import Threshold, thresholds
from lgl_bench.training import lifelong
from lgl_bench.training.trainer import Fit
from tests.support.graphs import small_stream


def method(*texts, head="softmax", cuts=(), **training):
    preset = Preset("tiny", {"hidden": 8, "dropout": 0.2}, TrainingParameters(**({"epochs": 3, "lr": 0.02} | training)))
    return Method(
        "gcn",
        head,
        preset,
        tuple(complete(parse(text), detectors) for text in texts),
        tuple(complete(parse(text), thresholds) for text in cuts),
    )


def walk(stream, protocol, what, seed=0):
    return list(answer_tasks(stream, protocol, what, seed))


@pytest.fixture
def plugin():
    """Registers a plugin for one test."""
    with detectors.temporarily(), thresholds.temporarily():
        yield lambda registry, name, kind: registry.register(name)(kind)


@pytest.fixture
def fits(monkeypatch):
    """Weights before and after every fit."""
    seen = []
    real = lifelong.train

    def watched(model, *arguments):
        start = state(model)
        fit = real(model, *arguments)
        seen.append((start, state(model)))
        return fit

    monkeypatch.setattr(lifelong, "train", watched)
    return seen


def state(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def same_graph(one, other):
    return np.array_equal(one.features, other.features) and np.array_equal(one.edges, other.edges)


def old_part(grown, before):
    """The weights of what was there before classes were added."""
    return {name: grown[name][tuple(slice(n) for n in value.shape)] for name, value in before.items()}


def test_every_scored_vertex_gets_a_known_class_and_a_novelty_from_every_detector():
    what = method("msp", "energy", "good(odin)", cuts=("naive", "oracle"))
    found = walk(small_stream(), Temporal(), what)
    assert [answers.task.time for answers, _ in found] == [2, 3, 4]
    for answers, truth in found:
        n = len(answers.task.scored)
        assert answers.predicted.shape == truth.labels.shape == (n,)
        assert set(answers.predicted.tolist()) <= set(answers.task.known.tolist())
        assert set(answers.novelty) == set(answers.neighbour) == {str(d) for d in what.detectors}
        for part in (*answers.novelty.values(), *answers.neighbour.values()):
            assert part.shape == (n,) and part.min() >= 0 and part.max() <= 1
        assert set(answers.rejected) == {(str(d), str(t)) for d in what.detectors for t in what.thresholds}
        assert all(part.shape == (n,) and part.dtype == bool for part in answers.rejected.values())
        assert not answers.failed and not answers.skipped


def test_neighbour_means_are_those_of_the_novelty_on_the_whole_test_graph():
    ((answers, _), *_) = walk(small_stream(), Temporal(), method("degree"))
    u, v = answers.task.test.edges
    novelty = 1 / (1 + np.bincount(v, minlength=answers.task.test.num_vertices))
    expected = [novelty[u[v == i]].mean() if (v == i).any() else novelty[i] for i in answers.task.scored]
    assert np.allclose(answers.novelty["degree"], novelty[answers.task.scored])
    assert np.allclose(answers.neighbour["degree"], expected)


def test_a_task_with_fewer_than_two_known_classes_is_skipped_with_the_reason():
    found = [a for a, _ in walk(small_stream(births=(1, 0, 1, 0, 1)), Temporal(), method("msp"))]
    assert "1 known class" in found[0].skipped and "two" in found[0].skipped
    assert found[0].fit is None and not found[0].novelty
    assert [bool(a.skipped) for a in found] == [True, False, False]
    assert found[1].novelty


def test_a_task_with_nothing_to_learn_from_or_to_score_is_skipped_with_the_reason():
    stream = small_stream()
    assert "known class" in walk(stream, Temporal(label_delay=5), method("msp"))[0][0].skipped
    stream = replace(stream, labels=np.where(stream.born == 3, -1, stream.labels))
    found = [answers.skipped for answers, _ in walk(stream, Temporal(), method("msp"))]
    assert [bool(reason) for reason in found] == [False, True, False]
    assert "no labelled vertex to score" in found[1]
    # The window of the last task holds no label at all.
    assert "no labelled training vertex" in walk(stream, Temporal(history=1), method("msp"))[2][0].skipped


@pytest.mark.parametrize(
    ("text", "head"), [("isomax+", "softmax"), ("msp", "gdoc"), ("good(isomax+)", "softmax"), ("gdoc", "isomax+")]
)
def test_a_detector_on_a_head_it_cannot_score_on_is_refused_by_name(text, head):
    name = text.removeprefix("good(").removesuffix(")")
    with pytest.raises(UsageError, match=f"{name.replace('+', '.')}.* cannot score on the head .*{head[:4]}"):
        walk(small_stream(), Temporal(), method(text, head=head))


class Nan(Detector):
    def score(self, model, graph):
        return np.full(graph.num_vertices, np.nan)


class Column(Detector):
    def score(self, model, graph):
        return np.zeros((graph.num_vertices, 1))


class TooLarge(Detector):
    def score(self, model, graph):
        return np.full(graph.num_vertices, 1.5)


@pytest.mark.parametrize(("kind", "said"), [(Nan, "not finite"), (Column, r"shape \(\d+, 1\)"), (TooLarge, "1.5")])
def test_a_detector_that_breaks_its_contract_is_named_and_the_others_are_complete(plugin, kind, said):
    plugin(detectors, "broken", kind)
    for answers, _ in walk(small_stream(), Temporal(), method("msp", "broken", "energy")):
        assert list(answers.failed) == ["broken"]
        assert re.search(f"detector broken .*{said}", answers.failed["broken"])
        assert [name.split("(")[0] for name in answers.novelty] == ["msp", "energy"]
        assert list(answers.novelty) == list(answers.neighbour)
        assert len(answers.predicted) == len(answers.task.scored)


def test_a_threshold_that_returns_no_bools_is_named_and_the_others_decide(plugin):
    class Shares(Threshold):
        def reject(self, test):
            return np.zeros(len(test.scored))

    plugin(thresholds, "shares", Shares)
    for answers, _ in walk(small_stream(static=True), LeaveClassOut(), method("msp", cuts=("shares", "naive"))):
        assert any("shares" in reason and "float64" in reason for reason in answers.failed.values())
        assert [threshold.split("(")[0] for _, threshold in answers.rejected] == ["naive"]
        assert "msp" in answers.novelty


def test_a_warm_restart_goes_on_from_the_weights_of_the_year_before(fits):
    walk(small_stream(), Temporal(), method("msp"))
    assert len(fits) == 3
    for (_, before), (start, end) in zip(fits[:-1], fits[1:], strict=True):
        assert same(before, old_part(start, before))
        assert not same(start, end)
    sizes = [start["backbone.projections.1.bias"].numel() for start, _ in fits]
    assert sizes == [3, 4, 4]


def test_a_cold_restart_does_not(fits):
    walk(small_stream(), Temporal(), replace(method("msp"), strategy=parse("cold")))
    for (first, before), (start, _) in zip(fits[:-1], fits[1:], strict=True):
        for weights in (first, before):
            key = "backbone.projections.0.weight"
            assert not torch.equal(weights[key], start[key])


def test_the_classes_left_out_of_a_static_graph_have_models_of_their_own(fits):
    walk(small_stream(static=True), LeaveClassOut(), method("msp"))
    starts = [start["backbone.projections.0.weight"] for start, _ in fits]
    assert len(starts) == 4 and not any(torch.equal(starts[0], other) for other in starts[1:])


def test_the_model_of_the_year_before_is_left_as_it_was(plugin):
    models = []

    class Keeps(Detector):
        def fit(self, model, train, fit_vertices, calibration):
            models.append((model, state(model)))

        def score(self, model, graph):
            return np.zeros(graph.num_vertices)

    plugin(detectors, "keeps", Keeps)
    walk(small_stream(), Temporal(), method("keeps"))
    assert len({id(model) for model, _ in models}) == 3
    assert all(same(state(model), before) for model, before in models)


@pytest.fixture
def calibrations(plugin):
    """The model and the calibration each fit of a detector is given."""
    seen = []

    class Spy(Detector):
        def fit(self, model, train, fit_vertices, calibration):
            seen.append((model, train, fit_vertices, calibration))

        def score(self, model, graph):
            return np.zeros(graph.num_vertices)

    plugin(detectors, "spy", Spy)
    return seen


def test_a_static_task_is_calibrated_on_its_validation_vertices_with_its_own_model(calibrations):
    found = walk(small_stream(static=True), LeaveClassOut(), method("spy"))
    for (answers, _), (model, train, fit_vertices, calibration) in zip(found, calibrations, strict=True):
        assert calibration.model is model
        assert calibration.graph is train.graph and same_graph(train.graph, answers.task.train.graph)
        assert np.array_equal(calibration.vertices, answers.task.calibration)
        assert not set(calibration.vertices.tolist()) & set(fit_vertices.tolist())


@pytest.mark.parametrize("strategy", ["full", "cold"])
def test_a_year_is_calibrated_on_what_the_model_of_the_year_before_was_scored_on(calibrations, strategy):
    found = walk(small_stream(), Temporal(), replace(method("spy"), strategy=parse(strategy)))
    model, _, fit_vertices, first = calibrations[0]
    assert first.model is model
    assert np.array_equal(first.vertices, fit_vertices)
    for i in (1, 2):
        last = found[i - 1][0].task
        before, now = calibrations[i - 1], calibrations[i]
        calibration = now[3]
        assert same(state(calibration.model), state(before[0])) and calibration.model is not now[0]
        assert same_graph(calibration.train.graph, last.train.graph)
        assert np.array_equal(calibration.train.labels, last.train.labels)
        assert np.array_equal(calibration.fit_vertices, before[2])
        assert same_graph(calibration.graph, last.test) and np.array_equal(calibration.vertices, last.scored)


def test_a_fit_that_diverges_is_skipped_with_the_reason_and_the_next_year_goes_on_from_the_one_before_it(
    fits, calibrations, monkeypatch
):
    watched, calls = lifelong.train, []

    def second_diverges(model, *arguments):
        fit = watched(model, *arguments)
        calls.append(model)
        return Fit("diverged", "the loss was nan in epoch 2", 2, float("nan"), 0.1) if len(calls) == 2 else fit

    monkeypatch.setattr(lifelong, "train", second_diverges)
    found = [answers for answers, _ in walk(small_stream(), Temporal(), method("spy"))]
    assert [a.skipped for a in found] == ["", "diverged: the loss was nan in epoch 2", ""]
    assert found[1].fit.status == "diverged" and not found[1].novelty and not len(found[1].predicted)
    end_of_first = fits[0][1]
    assert all(same(end_of_first, old_part(start, end_of_first)) for start, _ in fits[1:])
    last = calibrations[-1][3]
    assert same(state(last.model), state(calibrations[0][0]))
    assert np.array_equal(last.vertices, found[0].task.scored)


def test_a_learning_rate_out_of_all_bounds_crashes_nothing():
    for answers, _ in walk(small_stream(), Temporal(), method("msp", lr=1e30)):
        assert answers.skipped.startswith("diverged")
        assert not len(answers.predicted) and not answers.novelty


def test_the_same_seed_gives_the_same_answers_bit_for_bit_and_another_seed_others():
    one, two, other = (walk(small_stream(), Temporal(), method("msp"), seed)[-1][0] for seed in (1, 1, 2))
    assert np.array_equal(one.novelty["msp"], two.novelty["msp"])
    assert not np.array_equal(one.novelty["msp"], other.novelty["msp"])


def test_another_detector_beside_it_changes_no_score():
    alone = walk(small_stream(), Temporal(), method("msp"))[-1][0]
    beside = walk(small_stream(), Temporal(), method("random", "good(odin)", "mahalanobis", "msp"))[-1][0]
    assert np.array_equal(alone.novelty["msp"], beside.novelty["msp"])
