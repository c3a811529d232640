"""Ranks over streams and the signed-rank test, against scipy and figures worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.leaderboard.stats.ranks import rank_over_streams, signed_ranks


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
