from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_curve

from lgl_bench.core.types import Value
from lgl_bench.metrics.ranking import aupr, aupr_known, fpr95, fpr95_known, oscr, prevalence

# Few distinct scores, so that ties are the rule.
answers = st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.booleans()), min_size=2, max_size=40).filter(
    lambda rows: len({new for new, _, _ in rows}) == 2
)


def arrays(rows):
    new, novelty, correct = zip(*rows, strict=True)
    return np.array(new), np.array(novelty) / 6, np.array(correct)


@given(answers)
def test_aupr_is_the_average_precision_of_scikit_learn_ties_included(rows):
    new, novelty, _ = arrays(rows)
    assert aupr(new, novelty).value == pytest.approx(average_precision_score(new, novelty))


@given(answers)
def test_fpr95_is_read_off_the_first_point_of_the_roc_curve_with_95_percent_recall(rows):
    new, novelty, _ = arrays(rows)
    fpr, tpr, _ = roc_curve(new, novelty, drop_intermediate=False)
    assert fpr95(new, novelty).value == pytest.approx(fpr[np.argmax(tpr >= 0.95)])


@given(answers)
def test_oscr_is_the_area_under_correct_classification_against_accepted_new_vertices(rows):
    new, novelty, correct = arrays(rows)
    cuts = np.append(np.unique(novelty), np.inf)
    accepted_new = [float((novelty[new] < cut).mean()) for cut in cuts]
    right = [float(((novelty < cut) & correct)[~new].mean()) for cut in cuts]
    area = np.trapezoid(right, accepted_new)
    assert oscr(new, novelty, correct).value == pytest.approx(area)


def test_without_new_or_without_known_vertices_there_is_no_value_but_a_reason():
    novelty = np.array([0.1, 0.2])
    for new, reason in ((np.zeros(2, bool), "no new vertex"), (np.ones(2, bool), "no vertex of a known class")):
        for metric in (aupr, aupr_known, fpr95, fpr95_known, lambda new, novelty: oscr(new, novelty, new)):
            found = metric(new, novelty)
            assert found.value is None and found.reason == reason


@given(answers)
def test_aupr_known_is_the_average_precision_of_scikit_learn_with_known_as_positive(rows):
    new, novelty, _ = arrays(rows)
    assert aupr_known(new, novelty).value == pytest.approx(average_precision_score(~new, -novelty))


@given(answers)
def test_fpr95_known_is_read_off_the_roc_curve_with_known_as_positive(rows):
    new, novelty, _ = arrays(rows)
    fpr, tpr, _ = roc_curve(~new, -novelty, drop_intermediate=False)
    assert fpr95_known(new, novelty).value == pytest.approx(fpr[np.argmax(tpr >= 0.95)])


def test_the_two_auprs_take_the_two_sides_as_positive():
    new, novelty = np.array([True, False, False, False]), np.array([0.6, 0.9, 0.5, 0.1])
    # The new vertex comes second from the top: precision 1/2 at full recall.
    assert aupr(new, novelty).value == pytest.approx(1 / 2)
    # From the bottom: known, known, new, known: a third each at precision 1, 1 and 3/4.
    assert aupr_known(new, novelty).value == pytest.approx((1 + 1 + 3 / 4) / 3)


def test_the_two_fpr95_differ_where_a_few_vertices_of_one_side_are_far_off():
    # 19 known vertices below all new ones and one above them; 95 % of 20 are 19.
    new = np.array([False] * 20 + [True] * 4)
    novelty = np.array([0.1] * 19 + [0.9] + [0.5] * 4)
    assert fpr95_known(new, novelty) == Value(0.0)
    assert fpr95(new, novelty).value == pytest.approx(1 / 20)
    # The same turned round: 19 new vertices above all known ones and one below them.
    assert fpr95(~new, 1 - novelty) == Value(0.0)
    assert fpr95_known(~new, 1 - novelty).value == pytest.approx(1 / 20)


def test_of_twenty_new_vertices_eighteen_are_too_few_for_fpr95():
    new, novelty = np.array([True] * 20 + [False] * 4), np.array([0.9] * 18 + [0.1] * 2 + [0.5] * 4)
    assert fpr95(new, novelty) == Value(1.0)
    assert fpr95_known(~new, 1 - novelty) == Value(1.0)


def test_equal_scores_are_accepted_together_at_the_cut():
    new = np.array([False, False, True, True])
    assert fpr95_known(new, np.array([0.1, 0.5, 0.5, 0.9])).value == pytest.approx(1 / 2)


def test_a_novelty_that_knows_nothing_has_the_prevalence_as_aupr():
    new, same = np.array([True, False, False, False]), np.full(4, 0.5)
    assert prevalence(new) == aupr(new, same) == Value(0.25)
    assert aupr_known(new, same) == Value(0.75)


def test_a_year_without_new_vertices_has_a_prevalence_of_zero_and_one_without_vertices_has_none():
    assert prevalence(np.zeros(3, bool)) == Value(0.0)
    assert prevalence(np.array([], dtype=bool)) == Value(None, "no scored vertex")
