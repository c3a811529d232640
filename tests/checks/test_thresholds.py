"""Thresholds that are broken on purpose: each fails the check made for it, with a message that says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.thresholds import Threshold, thresholds


class Everybody(Threshold):
    """Rejects the fewer, the more it is asked to."""

    def __init__(self, q: float = 0.1) -> None:
        self.q = q

    def reject(self, test):
        return test.novelty[test.scored] > np.quantile(test.novelty[test.scored], self.q)


class Shares(Threshold):
    def reject(self, test):
        return test.novelty[test.scored]


class Tosses(Threshold):
    def reject(self, test):
        return np.random.default_rng().random(len(test.scored)) < 0.5


class Halves(Threshold):
    def reject(self, test):
        test.novelty[:] = test.novelty / 2
        return test.novelty[test.scored] > 0.5


class Forgets(Threshold):
    def fit(self, train, calibration, seed):
        self.delta_ = 0.5

    def reject(self, test):
        return test.novelty[test.scored] > getattr(self, "delta_", 0.5)


@pytest.mark.parametrize(
    ("plugin", "title", "said"),
    [
        (Everybody, "is monotone in its rate", "not monotone"),
        (Shares, "decides for every scored vertex", "float64"),
        (Tosses, "decides the same again", "differently"),
        (Forgets, "raises when it is not fitted", "without having been fitted"),
    ],
)
def test_a_broken_threshold_fails_the_check_made_for_it(check, plugin, title, said):
    assert said in check(thresholds, "thresholds", plugin)[title]


def test_a_threshold_that_changes_its_input_is_told_to_copy_it(check):
    assert "copy" in check(thresholds, "thresholds", Halves)["leaves its input as it was"]
