from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, complete, parse
from lgl_bench.core.seeds import member_seed
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.energy import Energy
from lgl_bench.detectors.ensemble import Ensemble
from lgl_bench.detectors.good import neighbour_mean
from lgl_bench.detectors.msp import Msp
from lgl_bench.training.ensemble import EnsembleModel
from tests.support.stubs import calibration, fitted, points, snapshot
from tests.support.trained import small_case, small_model
from tests.training.test_ensemble import Told

READ_P = ["msp", "entropy", "gen", "kl-matching", "grasp", "logitnorm", "good(msp)", "propagate(gen)"]
READ_MORE = ["energy", "max-logit", "odin", "react(msp)", "knn", "mahalanobis", "mc-dropout", "good(energy)", "random"]


def made(text) -> Detector:
    return build(parse(text), detectors)


def several(count=3):
    """Members with weights of their own, a graph and labels."""
    _, g, labels = small_case()
    return EnsembleModel([small_model(seed=seed) for seed in range(count)]), g, labels


def test_a_detector_that_reads_p_scores_the_mean_p():
    g = points(1)
    opposed = EnsembleModel([Told([0.8, 0.2]), Told([0.2, 0.8])])
    assert fitted(Ensemble(Msp(), 2), opposed, g).score(opposed, g) == pytest.approx([0.5])  # the mean MSP is 0.2
    assert fitted(made("ensemble(entropy,members=2)"), opposed, g).score(opposed, g) == pytest.approx([1.0])


def test_of_a_detector_that_reads_more_it_is_the_mean_of_the_scores():
    g = points(1)
    model = EnsembleModel([Told([0.8, 0.2]), Told([0.2, 0.8])])
    model.parts[0].logits = model.parts[0].logits + 1.0
    model.parts[1].logits = model.parts[1].logits + 4.0
    assert fitted(Ensemble(Energy(), 2), model, g).score(model, g) == pytest.approx([-2.5])


@pytest.mark.parametrize("text", READ_P)
def test_these_declare_that_they_read_p_alone(text):
    assert made(text).reads_probabilities


@pytest.mark.parametrize("text", READ_MORE)
def test_these_read_more_and_are_averaged(text):
    assert not made(text).reads_probabilities
    model, g, labels = several()
    found = fitted(made(f"ensemble({text},members=3)"), model, g, labels).score(model, g)
    alone = []
    for number, member in enumerate(model.parts):
        own = replace(calibration(member, g), seed=member_seed(0, number))
        alone.append(fitted(made(text), member, g, labels, calibrated=own).score(member, g))
    assert found == pytest.approx(np.mean(alone, axis=0))
    assert not np.array_equal(alone[0], alone[1])


@pytest.mark.parametrize("text", ["msp", "energy", "kl-matching", "good(energy)", "knn"])
def test_one_member_is_the_detector_itself(text):
    model, g, labels = small_case()
    alone = fitted(made(text), model, g, labels).score(model, g)
    assert np.array_equal(fitted(made(f"ensemble({text},members=1)"), model, g, labels).score(model, g), alone)


def test_propagating_the_mean_score_is_the_mean_of_the_propagated_scores():
    model, g, labels = several()
    inside = fitted(made("ensemble(propagate(energy),members=3)"), model, g, labels).score(model, g)
    outside = fitted(made("propagate(ensemble(energy,members=3))"), model, g, labels).score(model, g)
    assert inside == pytest.approx(outside)


def test_good_mixes_what_an_ensemble_scores():
    model, g, labels = several()
    own = fitted(made("ensemble(msp,members=3)"), model, g, labels).score(model, g)
    mixed = fitted(made("good(ensemble(msp,members=3),alpha=0.3)"), model, g, labels).score(model, g)
    assert mixed == pytest.approx(0.7 * own + 0.3 * neighbour_mean(own, g.edges))


def test_members_are_calibrated_with_their_own_model_of_the_year_before():
    now, g, labels = several(2)
    before = EnsembleModel([small_model(seed=seed) for seed in (5, 6)])
    found = fitted(made("ensemble(good(energy),members=2)"), now, g, labels, calibrated=calibration(before, g))
    alone = [
        fitted(made("good(energy)"), one, g, labels, calibrated=calibration(old, g)).score(one, g)
        for one, old in zip(now.parts, before.parts, strict=True)
    ]
    assert found.score(now, g) == pytest.approx(np.mean(alone, axis=0))


class Learned(Detector):
    """Scores every vertex by how many vertices it was fitted on."""

    bounded = False

    def fit(self, model, train, fit_vertices, calibration):
        self.seen_ = 10 * len(fit_vertices) + len(calibration.fit_vertices)

    def score(self, model, graph):
        return np.full(graph.num_vertices, float(self.seen_))


def test_a_member_learns_from_the_vertices_that_its_own_strategy_chose():
    model, g, labels = several(2)
    task = small_task(g, labels)
    model.views = (task(2), task(4))
    found = fitted(Ensemble(Learned(), 2), model, g, labels, calibrated=calibration(model, g)).score(model, g)
    assert found.tolist() == [(22 + 44) / 2] * g.num_vertices


def small_task(g, labels):
    class View:
        def __init__(self, count):
            self.train, self.fit_mask = snapshot(g, labels), np.arange(g.num_vertices) < count

    return View


@pytest.mark.parametrize("text", ["ensemble(ensemble(msp))", "ensemble(good(ensemble(msp,members=2)),members=2)"])
def test_an_ensemble_within_an_ensemble_is_refused(text):
    with pytest.raises(UsageError, match="an ensemble within an ensemble is none: name one with more members"):
        made(text)


@pytest.mark.parametrize("text", ["react(ensemble(energy))", "ash(good(ensemble(energy)))"])
def test_what_changes_embeddings_cannot_wrap_it_but_can_be_wrapped(text):
    with pytest.raises(UsageError, match=r"cannot wrap .*asks several models"):
        made(text)
    made("ensemble(react(energy))")


@pytest.mark.parametrize("members", [0, -1, 101])
def test_the_number_of_members_is_bounded(members):
    with pytest.raises(UsageError, match=f"members = {members}: it must lie between 1 and 100"):
        made(f"ensemble(msp,members={members})")


@pytest.mark.parametrize("count", [1, 2])
def test_a_fit_of_another_number_of_models_is_refused(count):
    model, g, labels = several(2)
    with pytest.raises(PluginError, match=f"ensemble has 5 members and was given a fit of {count}"):
        fitted(made("ensemble(msp)"), model if count == 2 else model.parts[0], g, labels)


def test_five_members_are_the_default_and_base_and_heads_are_those_of_what_it_wraps():
    assert str(complete(parse("ensemble(msp)"), detectors)) == "ensemble(msp,members=5)"
    found = made("ensemble(grasp)")
    assert found.track == "transductive" and found.bounded and not found.reads_outputs
    assert made("ensemble(isomax+)").heads == made("isomax+").heads and not made("ensemble(energy)").bounded


def test_it_refuses_to_score_before_it_is_fitted():
    model, g, _ = several(2)
    with pytest.raises(PluginError, match="ensemble has not been fitted; call fit first"):
        made("ensemble(msp,members=2)").score(model, g)
