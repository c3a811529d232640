"""Intervals and Welch's test, against scipy and figures worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from lgl_bench.leaderboard.stats.student import from_error, interval, welch


def test_the_interval_over_seeds_is_students():
    values = [0.71, 0.74, 0.69, 0.73]
    lo, hi = interval(np.array([np.mean(values)]), np.array([np.std(values, ddof=1)]), np.array([4]))
    told = scipy.stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (lo[0], hi[0]) == pytest.approx((told.low, told.high))


def test_two_seeds_have_no_interval():
    lo, hi = interval(np.array([0.5]), np.array([0.1]), np.array([2]))
    assert np.isnan(lo[0]) and np.isnan(hi[0])


def test_welch_is_the_test_of_scipy_with_the_difference_the_right_way_round():
    a, b = np.array([0.1, 0.2, 0.4]), np.array([0.5, 0.9, 0.6, 0.7])
    found = welch(
        *(np.array([f(a)]) for f in (np.mean, lambda v: np.std(v, ddof=1), len)),
        *(np.array([f(b)]) for f in (np.mean, lambda v: np.std(v, ddof=1), len)),
    )
    expected = scipy.stats.ttest_ind(b, a, equal_var=False)
    interval_ = expected.confidence_interval()
    assert found.value[0] == pytest.approx(b.mean() - a.mean())
    assert found.p[0] == pytest.approx(expected.pvalue)
    assert (found.lo[0], found.hi[0]) == pytest.approx((interval_.low, interval_.high))


def test_welch_takes_into_account_that_splits_of_one_graph_share_vertices():
    # s = 0.1 on either side, three seeds: variance 2 * 0.01 * (1/3 + 1/3), on 4 degrees of freedom.
    one, tenth, three = np.array([0.5]), np.array([0.1]), np.array([3])
    found = welch(one, tenth, three, one + 0.2, tenth, three, shared=1 / 3)
    assert found.p[0] == pytest.approx(2 * scipy.stats.t.sf(0.2 / (0.02 * 2 / 3) ** 0.5, 4))


def test_without_any_deviation_equal_means_are_equal_and_others_differ():
    zero = np.zeros(2)
    found = welch(np.array([0.5, 0.5]), zero, np.array([3, 3]), np.array([0.5, 0.6]), zero, np.array([3, 3]))
    assert found.p.tolist() == [1.0, 0.0]


def test_an_interval_of_five_tests_that_share_the_level_worked_by_hand():
    # t(2) at 1 - 0.05 / 2 / 5 = 0.995 is 9.925; at 0.975 it is 4.303
    found = from_error([0.1, 0.1], [0.01, 0.01], [2.0, 2.0], [5.0, 1.0])
    assert found.lo == pytest.approx([0.1 - 0.09925, 0.1 - 0.04303], abs=1e-5)
    assert found.p[0] == found.p[1]
