from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Value
from lgl_bench.metrics.calibration import ece

KNOWN = np.array([0, 1])
# Sixtieths hit the edges of 15, of 10 and of 1 bins as often as their insides.
answers = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 60)), min_size=1, max_size=30)


def test_ece_is_the_gap_between_accuracy_and_confidence_weighted_by_bin():
    truth, predicted = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 0])
    confidence = np.array([0.95, 0.97, 0.99, 0.55, 0.59])
    # Ten bins: three vertices near 0.97, two right; two near 0.57, one right.
    expected = 3 / 5 * abs(2 / 3 - 0.97) + 2 / 5 * abs(1 / 2 - 0.57)
    assert ece(truth, predicted, confidence, KNOWN, bins=10).value == pytest.approx(expected)


def test_gaps_of_one_bin_cancel_and_gaps_of_two_bins_do_not():
    truth, predicted, confidence = np.array([0, 0]), np.array([0, 1]), np.array([0.4, 0.6])
    assert ece(truth, predicted, confidence, KNOWN, bins=1).value == pytest.approx(0)
    assert ece(truth, predicted, confidence, KNOWN, bins=2).value == pytest.approx(0.6)


def test_an_edge_belongs_to_the_bin_below_it():
    truth, predicted = np.array([0, 0]), np.array([0, 1])
    # 0.5 sits with 0.3 in (0, 0.5]: |(1 + 0) - (0.3 + 0.5)| / 2. Apart it would be (0.7 + 0.5) / 2.
    assert ece(truth, predicted, np.array([0.3, 0.5]), KNOWN, bins=2).value == pytest.approx(0.1)


def test_a_sure_and_right_model_is_calibrated_and_a_sure_and_wrong_one_is_not():
    sure = np.ones(4)
    truth = np.array([0, 0, 1, 1])
    assert ece(truth, truth, sure, KNOWN) == Value(0.0)
    assert ece(truth, 1 - truth, sure, KNOWN) == Value(1.0)
    assert ece(truth, 1 - truth, np.zeros(4), KNOWN) == Value(0.0)


def test_new_vertices_stay_out_of_calibration():
    truth, predicted, confidence = np.array([0, 9, 9]), np.array([0, 0, 1]), np.array([1.0, 0.9, 0.8])
    assert ece(truth, predicted, confidence, KNOWN) == Value(0.0)
    assert ece(truth[1:], predicted[1:], confidence[1:], KNOWN) == Value(None, "no scored vertex of a known class")


@pytest.mark.parametrize("bins", [1, 10, 15])
@given(rows=answers)
def test_ece_equals_the_sum_by_hand_over_exact_bins(bins, rows):
    known = [(truth == predicted, Fraction(sure, 60)) for truth, predicted, sure in rows if truth < 2]
    truth, predicted, sixtieths = (np.array(side) for side in zip(*rows, strict=True))
    found = ece(truth, predicted, sixtieths / 60, KNOWN, bins)
    if not known:
        assert found.value is None
        return
    total = Fraction(0)
    for m in range(1, bins + 1):
        inside = [(r, c) for r, c in known if Fraction(m - 1, bins) < c <= Fraction(m, bins) or (m == 1 and c == 0)]
        if inside:
            accuracy = Fraction(sum(r for r, _ in inside), len(inside))
            total += Fraction(len(inside), len(known)) * abs(accuracy - sum(c for _, c in inside) / len(inside))
    assert found.value == pytest.approx(float(total), abs=1e-12)


@pytest.mark.parametrize("wrong", [1.2, -0.1, np.nan])
def test_a_confidence_outside_zero_to_one_is_refused_by_its_vertex(wrong):
    with pytest.raises(UsageError, match=r"of scored vertex 1 is not in \[0, 1\]"):
        ece(np.array([0, 0]), np.array([0, 0]), np.array([0.5, wrong]), KNOWN)


def test_calibration_without_a_bin_is_refused():
    with pytest.raises(UsageError, match="bins = 0"):
        ece(np.array([0]), np.array([0]), np.array([0.5]), KNOWN, bins=0)
