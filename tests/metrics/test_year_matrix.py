"""Models that know different classes are compared on those that both know."""

from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.metrics.matrix import backward_transfer, forgetting
from lgl_bench.metrics.year_matrix import YearMatrix, accuracies, against_last, class_counts, guessing

NAN = float("nan")
# Two classes; the second becomes known to the second model. 2000 has 10 vertices of the first class and 10 of the
# second, whose labels came late; 2001 has 4 and 4.
COUNT = np.array([[10.0, 10.0], [4.0, 4.0]])
KNOWN = np.array([[True, False], [True, True]])
RIGHT = np.array([[[9.0, 0.0], [2.0, 0.0]], [[6.0, 10.0], [4.0, 2.0]]])
MATRIX = YearMatrix((2000, 2001), COUNT, RIGHT, KNOWN)


def test_an_accuracy_counts_the_classes_that_the_model_knows():
    assert accuracies(MATRIX).tolist() == [[0.9, 0.5], [0.8, 0.75]]


def test_a_class_that_becomes_known_in_between_is_no_part_of_a_difference():
    # On the class that both know the first model had 9 of 10 right and the last one has 6; its 10 of 10 on the other
    # class would hide that.
    assert against_last(MATRIX)[0, 0] == pytest.approx(0.9 - 0.6)
    assert forgetting(against_last(MATRIX)).value == pytest.approx(0.3)
    assert backward_transfer(against_last(MATRIX)).value == pytest.approx(-0.3)
    assert forgetting(accuracies(MATRIX)).value == pytest.approx(0.9 - 0.8)


def test_the_last_model_differs_from_itself_by_nothing():
    assert against_last(MATRIX)[1].tolist() == [0.0, 0.0]


def test_the_best_model_is_the_one_that_lost_most_on_what_it_shares_with_the_last():
    third = YearMatrix(
        (2000, 2001, 2002),
        np.array([[10.0, 10.0], [4.0, 4.0], [1.0, 1.0]]),
        np.array([[[9.0, 0], [2.0, 0], [0, 0]], [[6.0, 10.0], [4.0, 2.0], [0, 0]], [[6.0, 4.0], [4.0, 4.0], [1, 1]]]),
        np.array([[True, False], [True, True], [True, True]]),
    )
    # 2000: the first model lost 0.9 - 0.6 on the first class; the second (16 - 10) / 20 on both. 2001: (6 - 8) / 8.
    assert forgetting(against_last(third)).value == pytest.approx((0.3 - 0.25) / 2)


def test_models_that_share_no_class_of_a_year_are_not_compared_on_it():
    apart = YearMatrix((2000, 2001), COUNT, RIGHT, np.array([[False, True], [True, False]]))
    assert np.isnan(against_last(apart)[0]).all()
    assert forgetting(against_last(apart)).value is None


def test_a_missing_model_is_a_row_of_nan():
    right = RIGHT.copy()
    right[0] = NAN
    hole = YearMatrix((2000, 2001), COUNT, right, KNOWN)
    assert np.isnan(accuracies(hole)[0]).all() and np.isnan(against_last(hole)[0]).all()


def test_guessing_is_one_of_the_classes_that_the_model_of_the_year_before_knows():
    found = guessing(YearMatrix((1, 2, 3, 4), np.ones((4, 2)), np.ones((2, 4, 2)), KNOWN))
    assert np.isnan(found[[0, 3]]).all() and found[1:3].tolist() == [1.0, 0.5]


def test_vertices_are_counted_by_year_and_class():
    found = class_counts(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), np.array([True, False, True, True]), 2, 2)
    assert found.tolist() == [[1.0, 0.0], [0.0, 2.0]]
