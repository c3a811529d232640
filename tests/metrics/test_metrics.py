from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lgl_bench.core.types import Value
from lgl_bench.metrics.classification import accuracy
from lgl_bench.metrics.decisions import macro_f1, mcc, micro_f1
from lgl_bench.metrics.ranking import auroc

PAIRS = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=25)
DECISIONS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=25)
QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(PAIRS)
def test_auroc_equals_that_of_scikit_learn_ties_included(pairs):
    new = np.array([a for a, _ in pairs])
    novelty = np.array([b / 7 for _, b in pairs])
    assume(new.any() and not new.all())
    assert auroc(new, novelty).value == pytest.approx(sklearn.metrics.roc_auc_score(new, novelty))


def test_auroc_is_the_share_of_pairs_in_the_right_order_ties_counting_half():
    new = np.array([True, True, False, False, False])
    novelty = np.array([0.9, 0.4, 0.4, 0.6, 0.1])
    # 0.9 is above all three; 0.4 ties with one, is below one, above one: (3 + 0.5 + 0 + 1) / 6
    assert auroc(new, novelty).value == pytest.approx(4.5 / 6)


def test_a_year_without_new_vertices_has_no_auroc_but_a_reason():
    assert auroc(np.array([False, False]), np.array([0.1, 0.2])) == Value(None, "no new vertex")
    assert auroc(np.array([True]), np.array([0.1])) == Value(None, "no vertex of a known class")
    assert auroc(np.array([], dtype=bool), np.array([])).value is None


def test_accuracy_counts_vertices_of_known_classes_only():
    truth, predicted = np.array([3, 3, 7, 9, 9]), np.array([3, 7, 7, 3, 7])
    assert accuracy(truth, predicted, np.array([7, 3])).value == pytest.approx(2 / 3)
    # The prediction for a new vertex makes no difference.
    assert accuracy(truth, np.array([3, 7, 7, 7, 3]), np.array([7, 3])).value == pytest.approx(2 / 3)


def test_accuracy_without_a_vertex_of_a_known_class_is_undefined():
    assert accuracy(np.array([5]), np.array([0]), np.array([0, 1])) == Value(None, "no scored vertex of a known class")


@QUICK
@given(DECISIONS)
def test_decision_metrics_equal_those_of_scikit_learn(pairs):
    new, rejected = (np.array(side) for side in zip(*pairs, strict=True))
    both = {"labels": [False, True], "zero_division": 0}
    assert micro_f1(new, rejected).value == pytest.approx(sklearn.metrics.f1_score(new, rejected, average="micro"))
    if len(set(new)) < 2:
        reason = "no vertex of a known class" if new.all() else "no new vertex"
        assert macro_f1(new, rejected) == mcc(new, rejected) == Value(None, reason)
        return
    assert macro_f1(new, rejected).value == pytest.approx(
        sklearn.metrics.f1_score(new, rejected, average="macro", **both)
    )
    expected = sklearn.metrics.matthews_corrcoef(new, rejected) if len(set(rejected)) == 2 else 0.0
    assert mcc(new, rejected).value == pytest.approx(expected)


def test_rejecting_nobody_scores_six_sevenths_where_one_of_seven_equal_classes_is_new():
    new = np.repeat([True, False, False, False, False, False, False], 10)
    nobody = np.zeros(70, dtype=bool)
    assert micro_f1(new, nobody).value == pytest.approx(6 / 7)
    assert round(micro_f1(new, nobody).value, 3) == 0.857
    # F1 of known: 2 * 60 / (70 + 60); of new: 0.
    assert macro_f1(new, nobody).value == pytest.approx(60 / 130)
    assert mcc(new, nobody).value == 0


def test_rejecting_everybody_scores_one_seventh():
    new = np.repeat([True, False, False, False, False, False, False], 10)
    assert micro_f1(new, np.ones(70, dtype=bool)).value == pytest.approx(1 / 7)


def test_matthews_correlation_of_many_vertices_does_not_overflow():
    new = np.arange(200_000) % 2 == 0
    assert mcc(new, new).value == 1.0
    assert mcc(new, ~new).value == -1.0


@pytest.mark.parametrize("metric", [micro_f1, macro_f1, mcc])
def test_no_scored_vertex_leaves_a_decision_metric_undefined(metric):
    nothing = np.array([], dtype=bool)
    assert metric(nothing, nothing) == Value(None, "no scored vertex")
