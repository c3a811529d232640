from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.leaderboard.stats.signflip import sign_flip


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
