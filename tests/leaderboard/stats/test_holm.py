from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.leaderboard.stats.holm import holm, level_divisors


def test_holm_worked_by_hand():
    assert holm(np.array([0.01, 0.02, 0.03])) == pytest.approx([0.03, 0.04, 0.04])
    assert holm(np.array([0.6, 0.9])) == pytest.approx([1.0, 1.0])
    assert len(holm(np.array([]))) == 0


def test_an_interval_shares_the_level_with_the_tests_that_holm_had_left():
    # 0.01 < 0.05 / 4; 0.012 < 0.05 / 3; 0.03 >= 0.05 / 2, so that 0.04 < 0.05 / 1 is not looked at any more
    assert level_divisors(np.array([0.04, 0.01, np.nan, 0.03, 0.012]), 0.05).tolist() == [2, 4, 1, 2, 3]
    assert level_divisors(np.array([0.001, 0.001, 0.9]), 0.05).tolist() == [3, 3, 1]
    assert level_divisors(np.array([np.nan]), 0.05).tolist() == [1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_a_p_is_below_its_share_of_the_level_if_and_only_if_its_adjusted_p_is_below_the_level(values):
    p = np.array(values)
    # p and 5 % / k may round differently from p k and 5 %
    clear = np.abs(holm(p) - 0.05) > 1e-9
    assert ((p < 0.05 / level_divisors(p, 0.05)) == (holm(p) < 0.05))[clear].all()
