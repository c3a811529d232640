from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.types import Value
from lgl_bench.metrics.decisions import open_f1, rejected_share

KNOWN = np.array([7, 3, 5])
NEW = -1
answers = st.lists(
    st.tuples(st.sampled_from([1, 3, 4, 5, 7, 9]), st.sampled_from([3, 5, 7]), st.booleans()), min_size=1, max_size=30
)


def test_open_f1_is_the_mean_over_known_classes_and_one_class_for_all_that_is_new():
    truth, predicted = np.array([3, 3, 7, 9, 4, 4]), np.array([3, 7, 7, 3, 5, 3])
    rejected = np.array([False, True, False, True, True, False])
    # Truth 3 3 7 n n n, answer 3 n 7 n n 3. 3: 2 * 1 / (2 + 2); 7: 1; new: 2 * 2 / (3 + 3).
    assert open_f1(truth, predicted, KNOWN, rejected).value == pytest.approx((1 / 2 + 1 + 2 / 3) / 3)


@given(answers)
def test_open_f1_equals_the_macro_f1_of_scikit_learn_with_new_as_a_class(rows):
    truth, predicted, rejected = (np.array(side) for side in zip(*rows, strict=True))
    expected = sklearn.metrics.f1_score(
        np.where(np.isin(truth, KNOWN), truth, NEW), np.where(rejected, NEW, predicted), average="macro"
    )
    assert open_f1(truth, predicted, KNOWN, rejected).value == pytest.approx(expected)


def test_a_perfect_year_without_new_vertices_has_an_open_f1_of_one():
    truth, nobody = np.array([3, 3, 7]), np.zeros(3, dtype=bool)
    assert open_f1(truth, truth, KNOWN, nobody) == Value(1.0)


def test_rejecting_where_nothing_is_new_adds_a_class_that_counts_zero():
    truth, rejected = np.array([3, 3, 7]), np.array([True, False, False])
    assert open_f1(truth, truth, KNOWN, rejected).value == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_a_known_class_that_is_only_called_counts_zero_in_open_f1():
    truth, predicted, nobody = np.array([3, 3]), np.array([3, 5]), np.zeros(2, dtype=bool)
    assert open_f1(truth, predicted, KNOWN, nobody).value == pytest.approx((2 / 3 + 0) / 2)


def test_naming_an_unknown_class_is_not_rejecting():
    truth, predicted, nobody = np.array([3, 9]), np.array([3, 9]), np.zeros(2, dtype=bool)
    assert open_f1(truth, predicted, KNOWN, nobody).value == pytest.approx((1 + 0) / 2)


def test_rejecting_everything_where_no_class_is_known_is_right():
    nothing = np.array([], dtype=np.int64)
    assert open_f1(np.array([3, 9]), np.array([3, 3]), nothing, np.ones(2, dtype=bool)) == Value(1.0)


def test_open_f1_leaves_the_predictions_it_is_given_as_they_are():
    predicted = np.array([3, 5])
    open_f1(np.array([3, 9]), predicted, KNOWN, np.array([False, True]))
    assert predicted.tolist() == [3, 5]


def test_the_rejected_share_counts_scored_vertices():
    assert rejected_share(np.array([True, False, True, True])) == Value(0.75)
    assert rejected_share(np.zeros(3, dtype=bool)) == Value(0.0)


def test_no_scored_vertex_leaves_open_f1_and_the_rejected_share_undefined():
    nothing, nobody = np.array([], dtype=np.int64), np.array([], dtype=bool)
    assert open_f1(nothing, nothing, KNOWN, nobody) == Value(None, "no scored vertex")
    assert rejected_share(nobody) == Value(None, "no scored vertex")
