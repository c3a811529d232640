from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.streams.drift import class_drift, drift_over_time

LABELS = st.lists(st.integers(0, 4), min_size=1, max_size=12).map(np.array)


def test_drift_is_half_the_sum_of_the_differences_of_shares() -> None:
    # (3/4, 1/4, 0) against (1/4, 1/4, 1/2)
    assert class_drift(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 2])) == pytest.approx(0.5)


def test_disjoint_classes_are_as_far_apart_as_can_be() -> None:
    assert class_drift(np.array([0, 0]), np.array([3])) == 1.0


@given(LABELS, LABELS)
def test_drift_is_symmetric_within_its_bounds_and_zero_from_a_mix_to_itself(one: np.ndarray, other: np.ndarray) -> None:
    value = class_drift(one, other)
    assert value is not None
    assert 0.0 <= value <= 1.0
    assert value == pytest.approx(class_drift(other, one))
    assert class_drift(one, np.repeat(one, 3)) == pytest.approx(0.0)


def test_unlabelled_vertices_take_no_part() -> None:
    assert class_drift(np.array([0, -1, -1]), np.array([0, -1])) == 0.0


def test_a_side_without_labels_has_no_drift() -> None:
    assert class_drift(np.array([-1]), np.array([0])) is None
    assert class_drift(np.array([0]), np.array([], dtype=np.int64)) is None


def test_each_year_is_compared_with_everything_before_it() -> None:
    # years: {0, 0}, {0, 1}, {2}
    found = drift_over_time(np.array([0, 0, 0, 1, 2]), (2, 4, 5))
    assert found == [None, pytest.approx(0.5), pytest.approx(1.0)]
