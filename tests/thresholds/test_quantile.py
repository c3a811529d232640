from __future__ import annotations

import math

import numpy as np
import pytest

from lgl_bench.thresholds.quantile import Conformal, Quantile, conformal_cut
from tests.support.scores import NOTHING, scores


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
