from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.types import Value
from lgl_bench.metrics.classification import class_macro_f1

KNOWN = np.array([7, 3, 5])
# Classes 3, 5, 7 are known; 1, 4 and 9 are new, before, between and after them.
answers = st.lists(st.tuples(st.sampled_from([1, 3, 4, 5, 7, 9]), st.sampled_from([3, 5, 7])), min_size=1, max_size=30)


def test_macro_f1_is_the_mean_over_the_known_classes_that_appear():
    truth, predicted = np.array([3, 3, 3, 7, 9]), np.array([3, 3, 7, 7, 7])
    # 3: precision 1, recall 2/3, F1 0.8. 7: precision 1/2, recall 1, F1 2/3. 5 does not appear, 9 is new.
    assert class_macro_f1(truth, predicted, KNOWN).value == pytest.approx((0.8 + 2 / 3) / 2)


def test_what_is_said_of_a_new_vertex_makes_no_difference_to_macro_f1():
    truth, known = np.array([3, 7, 9, 9]), KNOWN
    first, second = np.array([3, 7, 7, 7]), np.array([3, 7, 3, 5])
    assert class_macro_f1(truth, first, known) == class_macro_f1(truth, second, known) == Value(1.0)


def test_a_class_that_is_called_but_not_there_is_a_miss_and_no_class_of_its_own():
    # 3: recall 1/2, precision 1. Class 5 is called once and adds no zero.
    assert class_macro_f1(np.array([3, 3]), np.array([3, 5]), KNOWN).value == pytest.approx(2 / 3)


@given(answers)
def test_macro_f1_equals_that_of_scikit_learn_over_the_classes_that_appear(rows):
    truth, predicted = (np.array(side) for side in zip(*rows, strict=True))
    among = np.isin(truth, KNOWN)
    found = class_macro_f1(truth, predicted, KNOWN)
    if not among.any():
        assert found == Value(None, "no scored vertex of a known class")
        return
    expected = sklearn.metrics.f1_score(
        truth[among], predicted[among], labels=np.unique(truth[among]), average="macro", zero_division=0
    )
    assert found.value == pytest.approx(expected)


def test_macro_f1_of_no_vertex_at_all_is_undefined():
    nothing = np.array([], dtype=np.int64)
    assert class_macro_f1(nothing, nothing, KNOWN).value is None
