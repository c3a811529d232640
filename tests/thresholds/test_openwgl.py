from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.thresholds.openwgl import OpenWgl, openwgl_delta
from tests.support.scores import NOTHING, scores


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
