from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_curve

from lgl_bench.metrics.ranking import aupr, fpr95, oscr

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
        for found in (aupr(new, novelty), fpr95(new, novelty), oscr(new, novelty, new)):
            assert found.value is None and found.reason == reason
