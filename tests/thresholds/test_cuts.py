"""Thresholds that compare a score with a cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.matthews import matthews
from lgl_bench.core.types import Scores
from lgl_bench.thresholds.gdoc import GDocThreshold, class_thresholds
from lgl_bench.thresholds.naive import Naive
from lgl_bench.thresholds.openwgl import OpenWgl, openwgl_delta
from lgl_bench.thresholds.oracle import Oracle, best_cut
from lgl_bench.thresholds.quantile import Conformal, Quantile, conformal_cut
from tests.support.graphs import graph


def scores(novelty=None, probabilities=None, scored=None, labels=None):
    n = len(novelty if novelty is not None else probabilities)
    novelty = np.zeros(n) if novelty is None else np.array(novelty)
    probabilities = np.full((n, 2), 0.5) if probabilities is None else np.array(probabilities)
    g = graph([], np.ones((n, 1), dtype=np.float32))
    chosen = np.arange(n) if scored is None else np.array(scored)
    return Scores(novelty, probabilities, g, chosen, None if labels is None else np.array(labels))


NOTHING = scores([0.5])


def test_naive_rejects_what_is_more_novel_than_its_cut_among_the_scored():
    test = scores([0.05, 0.1, 0.11, 0.9, 0.99], scored=[3, 0, 1, 2])
    assert Naive().delta == 0.1
    assert Naive().reject(test).tolist() == [True, False, False, True]
    assert Naive(delta=0.5).reject(test).tolist() == [True, False, False, False]


P = [
    [0.9, 0.3, 0.1],  # class 0
    [0.8, 0.9, 0.2],  # class 0
    [0.2, 0.4, 0.9],  # class 1
    [0.0, 0.95, 0.1],  # class 1
    [0.0, 0.0, 0.0],  # not scored
]
# sigma_0 = sqrt((0.1^2 + 0.2^2) / 2) = 0.158114, 1 - 3 sigma_0 = 0.525658
# sigma_1 = sqrt((0.6^2 + 0.05^2) / 2) = 0.425735, 1 - 3 sigma_1 = -0.277, so 0.1; class 2 has no vertex: 0.1
DELTAS = [1 - 3 * math.sqrt(0.025), 0.1, 0.1]


def gdoc(**knobs):
    threshold = GDocThreshold(**knobs)
    threshold.fit(scores(probabilities=P, scored=[0, 1, 2, 3], labels=[0, 0, 1, 1, 0]), NOTHING, seed=0)
    return threshold


def test_gdoc_has_a_cut_for_each_class_three_deviations_of_its_own_vertices_below_1():
    assert gdoc().deltas_ == pytest.approx(DELTAS)
    assert DELTAS[0] == pytest.approx(0.525658, abs=1e-6)
    assert gdoc(scale=1.0).deltas_ == pytest.approx([1 - math.sqrt(0.025), 1 - math.sqrt(0.18125), 0.1])
    assert gdoc(delta_min=0.6).deltas_ == pytest.approx([0.6, 0.6, 0.6])


def test_the_deviation_of_gdoc_is_that_of_the_points_mirrored_around_1():
    y = np.array([0.9, 0.75, 0.97])
    mirrored = np.concatenate([y, 2 - y])
    found = class_thresholds(y[:, None], np.zeros(3, dtype=np.int64), 0.0, 1.0)
    assert found == pytest.approx([1 - mirrored.std()])


def test_gdoc_rejects_only_what_lies_below_the_cut_of_every_class():
    test = scores(probabilities=[[0.5, 0.05, 0.05], [0.5, 0.2, 0.05], [0.6, 0.0, 0.0], [0.0, 0.0, 0.1], [0, 0, 0]])
    assert gdoc().reject(test).tolist() == [True, False, False, False, True]


def test_gdoc_needs_labels_and_a_fit():
    with pytest.raises(PluginError, match="needs the labels of the training vertices"):
        GDocThreshold().fit(scores(probabilities=P), NOTHING, seed=0)
    with pytest.raises(PluginError, match="has not been fitted"):
        GDocThreshold().reject(scores(probabilities=P))


def tenfold(uncertain, certain, n=20):
    """Two of twenty vertices with these large probabilities, the others sure of themselves."""
    largest = np.array(uncertain + [certain] * (n - len(uncertain)))
    return np.stack([largest, 1 - largest], axis=1)


def test_openwgl_takes_the_middle_of_the_mean_of_all_and_of_the_most_uncertain_tenth():
    p = tenfold([0.5, 0.6, 0.7], 0.95)
    everyone = (0.5 + 0.6 + 0.7 + 17 * 0.95) / 20
    assert openwgl_delta(p) == pytest.approx((everyone + (0.5 + 0.6) / 2) / 2)
    assert openwgl_delta(p[:4]) == pytest.approx(((0.5 + 0.6 + 0.7 + 0.95) / 4 + 0.5) / 2)  # at least one


def test_the_most_uncertain_are_those_with_the_largest_entropy_not_with_the_smallest_maximum():
    # The first has the smaller maximum, the second the larger entropy.
    p = np.array([[0.48, 0.48, 0.02, 0.02], [0.49, 0.17, 0.17, 0.17], *[[0.97, 0.01, 0.01, 0.01]] * 8])
    assert openwgl_delta(p) == pytest.approx(((0.48 + 0.49 + 8 * 0.97) / 10 + 0.49) / 2)


def test_openwgl_learns_its_cut_from_training_vertices_or_when_told_so_from_test_vertices():
    train, test = scores(probabilities=tenfold([0.6], 0.9, 10)), scores(probabilities=tenfold([0.5, 0.55], 0.7, 10))
    # Training: ((0.6 + 8.1) / 10 + 0.6) / 2 = 0.735. Test: ((0.5 + 0.55 + 5.6) / 10 + 0.5) / 2 = 0.5825.
    by_train, by_test = OpenWgl(), OpenWgl(fit="test")
    for threshold in (by_train, by_test):
        threshold.fit(train, NOTHING, seed=0)
    assert by_train.delta_ == pytest.approx(0.735)
    assert by_train.reject(test).all()
    assert by_test.reject(test).tolist() == [True, True] + [False] * 8
    assert (by_train.track, by_test.track) == ("inductive", "transductive")


def test_openwgl_looks_at_scored_vertices_only():
    p = np.concatenate([tenfold([0.6], 0.9, 10), [[0.5, 0.5]] * 5])
    threshold = OpenWgl()
    threshold.fit(scores(probabilities=p, scored=np.arange(10)), NOTHING, seed=0)
    assert threshold.delta_ == pytest.approx(0.735)
    by_test = OpenWgl(fit="test")
    by_test.fit(NOTHING, NOTHING, seed=0)
    # The cut of the ten is (0.708 + 0.6) / 2; with the other five it would lie below 0.6, at 0.569.
    found = by_test.reject(scores(probabilities=np.where(p == 0.9, 0.72, p), scored=np.arange(10)))
    assert found.tolist() == [True] + [False] * 9


def test_openwgl_refuses_another_place_to_fit_on_and_an_answer_before_the_fit():
    with pytest.raises(UsageError, match="fit = 'both': it is 'train' or 'test'"):
        OpenWgl(fit="both")
    with pytest.raises(PluginError, match="has not been fitted"):
        OpenWgl().reject(NOTHING)


def test_quantile_cuts_at_the_quantile_of_calibration_novelty():
    calibration = scores([0.0, 0.1, 0.2, 0.3, 0.4, 9.0], scored=range(5))
    threshold = Quantile(q=0.25)
    threshold.fit(scores([100.0]), calibration, seed=0)
    assert threshold.cut_ == pytest.approx(0.3)
    assert threshold.reject(scores([0.29, 0.31, 0.5], scored=[2, 0])).tolist() == [True, False]
    half_way = Quantile(q=0.1)
    half_way.fit(NOTHING, calibration, seed=0)
    assert half_way.cut_ == pytest.approx(0.36)  # position 3.6 of 0 to 4


def test_conformal_takes_the_corrected_rank():
    novelty = np.array([0.9, 0.1, 0.5, 0.3, 0.7, 0.2, 0.8, 0.4, 0.6])
    assert conformal_cut(novelty, 0.1) == 0.9  # rank ceil(10 * 0.9) = 9
    assert conformal_cut(novelty, 0.25) == 0.8  # rank ceil(7.5) = 8
    assert conformal_cut(novelty, 0.5) == 0.5
    threshold = Conformal(q=0.25)
    threshold.fit(NOTHING, scores(novelty), seed=0)
    assert threshold.reject(scores([0.8, 0.81])).tolist() == [False, True]


def test_with_too_few_calibration_vertices_conformal_rejects_nobody():
    threshold = Conformal(q=0.1)
    threshold.fit(NOTHING, scores([0.1] * 8), seed=0)
    assert threshold.cut_ == math.inf
    assert not threshold.reject(scores([0.2, 1.0])).any()


def test_a_rank_that_is_a_whole_number_is_not_rounded_up():
    assert conformal_cut(np.arange(1, 10) / 10, q=0.7) == 0.3  # rank 10 * 0.3 = 3


def test_of_known_vertices_that_are_exchangeable_conformal_rejects_at_most_the_share_it_promises():
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(300):
        threshold = Conformal(q=0.2)
        threshold.fit(NOTHING, scores(rng.random(14)), seed=0)
        shares.append(threshold.reject(scores(rng.random(40))).mean())
    assert np.mean(shares) == pytest.approx(0.2, abs=0.02)  # rank 12 of 14: 1 - 12 / 15


CASES = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=12)


@settings(max_examples=80, deadline=None)
@given(CASES)
def test_the_oracle_is_as_good_as_the_best_of_all_cuts(cases):
    novelty, new = np.array([a / 5 for a, _ in cases]), np.array([b for _, b in cases])
    oracle = Oracle()
    oracle.reveal(new)
    rejected = oracle.reject(scores(novelty))

    def correlation(called: np.ndarray) -> float:
        cells = (new & called, ~new & ~called, ~new & called, new & ~called)
        return float(matthews(*(cell.sum() for cell in cells)))

    assert correlation(rejected) == pytest.approx(max(correlation(novelty > cut) for cut in [-1.0, *novelty]))
    if len(set(new)) == 1:  # nothing to tell apart: nobody where all are known, everybody where all are new
        assert (rejected == new).all()


def test_the_best_cut_separates_what_can_be_separated():
    assert best_cut(np.array([0.9, 0.1, 0.8, 0.3]), np.array([True, False, True, False])) == 0.3


def test_the_oracle_sees_scored_vertices_only_and_is_never_ranked():
    oracle = Oracle()
    oracle.reveal(np.array([True, False]))
    assert oracle.reject(scores([0.5, 0.9, 0.2], scored=[0, 2])).tolist() == [True, False]
    assert not Oracle.ranked
    assert all(kind.ranked for kind in (Naive, GDocThreshold, OpenWgl, Quantile, Conformal))


def test_an_oracle_that_was_not_told_the_truth_says_so():
    with pytest.raises(PluginError, match="has not been told the truth; call reveal first"):
        Oracle().reject(NOTHING)
