"""Student, Holm, sign flips, the corrected t-test and ranks, each against figures worked by hand or by scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import UsageError
from lgl_bench.leaderboard.stats.evidence import of_seeds
from lgl_bench.leaderboard.stats.holm import holm
from lgl_bench.leaderboard.stats.ranks import rank_over_streams, signed_ranks
from lgl_bench.leaderboard.stats.resampled import is_random, shared_part, split_ratio
from lgl_bench.leaderboard.stats.signflip import sign_flip
from lgl_bench.leaderboard.stats.student import interval, welch


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


def test_a_paired_t_is_the_test_of_scipy():
    differences = np.array([0.02, 0.03, -0.01, 0.05])
    assert of_seeds(differences).difference().p == pytest.approx(scipy.stats.ttest_1samp(differences, 0).pvalue)
    assert np.isnan(of_seeds(differences[:2]).difference().p)


def test_holm_worked_by_hand():
    assert holm(np.array([0.01, 0.02, 0.03])) == pytest.approx([0.03, 0.04, 0.04])
    assert holm(np.array([0.6, 0.9])) == pytest.approx([1.0, 1.0])
    assert len(holm(np.array([]))) == 0


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=10))
def test_the_sign_flip_test_counts_every_way_to_set_the_signs(values):
    seen = np.array(values, dtype=float)
    ways = [abs(np.dot(signs, seen)) for signs in product((-1, 1), repeat=len(seen))]
    assert sign_flip(seen) == pytest.approx(np.mean([way >= abs(seen.sum()) for way in ways]))


def test_the_smallest_p_of_six_years_is_two_in_sixty_four():
    assert sign_flip(np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.4])) == 2 / 64


def test_forty_years_are_counted_too():
    assert sign_flip(np.full(40, 0.1)) == pytest.approx(2 / 2**40)
    with pytest.raises(ValueError, match="45 differences"):
        sign_flip(np.ones(45))


def test_the_corrected_t_worked_by_hand():
    # d = 0.1, 0.2, 0.3: mean 0.2, s^2 = 0.01; (1/3 + 1/3) * 0.01 under the root: t = 0.2 / 0.08165 = 2.449.
    found = of_seeds(np.array([0.1, 0.2, 0.3]), 1 / 3).difference()
    assert found.value == pytest.approx(0.2)
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(0.2 / (0.01 * 2 / 3) ** 0.5, 2))
    assert found.hi - found.value == pytest.approx(scipy.stats.t.ppf(0.975, 2) * (0.01 * 2 / 3) ** 0.5)
    assert np.isnan(of_seeds(np.array([0.1, 0.2]), 1 / 3).difference().p)


def test_the_ratio_of_a_split_is_read_off_its_name():
    assert split_ratio("60-20-20") == pytest.approx(1 / 3) and split_ratio("80-10-10") == pytest.approx(1 / 8)
    assert (
        shared_part("60-20-20") == split_ratio("60-20-20") and shared_part("planetoid") == shared_part("temporal") == 0
    )
    assert is_random("60-20-20") and not is_random("planetoid") and not is_random("temporal")
    with pytest.raises(UsageError, match="planetoid"):
        split_ratio("planetoid")


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9, unique_by=abs).filter(lambda v: 0 not in v))
def test_wilcoxon_without_ties_is_the_exact_one_of_scipy(values):
    seen = np.array(values, dtype=float)
    assert signed_ranks(seen) == pytest.approx(scipy.stats.wilcoxon(seen, method="exact").pvalue)


def test_no_difference_at_all_is_no_evidence():
    assert signed_ranks(np.zeros(6)) == 1.0


def test_mean_ranks_share_ties_and_five_streams_are_too_few_to_test():
    found = rank_over_streams(np.array([[0.9, 0.8, 0.8], [0.7, 0.9, 0.1]]), ["a", "b", "c"])
    assert found.names == ["a", "b", "c"] and found.mean_ranks == [1.5, 1.75, 2.75]
    assert found.reason == "too few streams: 2, and 6 are needed" and not found.pairs and not found.bars
    assert rank_over_streams(np.ones((5, 2)), ["a", "b"]).reason.startswith("too few streams")


def test_from_six_streams_on_pairs_are_tested_and_equals_are_joined_by_a_bar():
    rng = np.random.default_rng(0)
    good = rng.random(12)
    values = np.column_stack([good - 0.5, good, good + rng.choice([-0.01, 0.01], 12)])
    found = rank_over_streams(values, ["bad", "good", "twin"])
    assert found.names[2] == "bad" and not found.reason
    # Twelve of twelve in the same direction: 2 / 4096, times the three pairs at most.
    assert found.pairs[0, 2] == pytest.approx(3 * 2 / 4096) and found.pairs[0, 1] > 0.05
    assert found.bars == [(0, 1)]
    assert found.friedman_p < 0.01


def test_six_streams_suffice_to_test_two_methods():
    values = np.column_stack([np.arange(6.0), np.arange(6.0) + 1])
    found = rank_over_streams(values, ["a", "b"])
    assert found.names == ["b", "a"] and found.pairs == {(0, 1): 2 / 64} and found.bars == []
