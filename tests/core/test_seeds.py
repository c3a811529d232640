from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.seeds import derive, generator


def test_a_derived_seed_never_changes_from_release_to_release() -> None:
    assert derive(0, "split") == 6682928078616706572
    assert derive(7, "split", 3) == 581389825076438916


def test_every_seed_and_axis_and_their_order_count() -> None:
    seeds = [
        derive(0),
        derive(1),
        derive(0, "a"),
        derive(0, "b"),
        derive(0, "a", "b"),
        derive(0, "b", "a"),
        derive(0, "ab"),
        derive(1, "a"),
    ]
    assert len(set(seeds)) == len(seeds)


def test_a_number_and_the_text_of_it_are_different_axes() -> None:
    assert derive(1, 1) != derive(1, "1")


@given(st.integers(), st.lists(st.one_of(st.text(max_size=5), st.integers()), max_size=3))
def test_a_derived_seed_fits_63_bits(seed: int, axes: list[str | int]) -> None:
    assert 0 <= derive(seed, *axes) < 2**63


def test_generators_of_two_axes_draw_differently_and_of_one_axis_alike() -> None:
    one, again, other = generator(3, "x"), generator(3, "x"), generator(3, "y")
    drawn = one.random(5)
    assert np.array_equal(drawn, again.random(5))
    assert not np.array_equal(drawn, other.random(5))
