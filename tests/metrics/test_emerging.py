from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Value
from lgl_bench.metrics.emerging import (
    YearAnswers,
    class_shares,
    classification_lag,
    detection_delay,
    emergence,
    emerging_classes,
)
from lgl_bench.metrics.ranking import auroc

KNOWN_FIRST = Value(None, "known before it was detected")
NEVER = Value(None, "never detected by the last year")


def year(time, truth, known, predicted=None, rejected=None, novelty=None):
    arrays = [None if side is None else np.array(side) for side in (predicted, rejected, novelty)]
    if arrays[1] is not None:
        arrays[1] = arrays[1].astype(bool)
    return YearAnswers(time, np.array(truth), np.array(known), *arrays)


def delays(years, **given):
    return {label: found.delay for label, found in detection_delay(years, **given).items()}


def alarms(years, **given):
    return {label: found.false_alarm_rate for label, found in detection_delay(years, **given).items()}


def test_a_class_emerges_when_it_is_first_scored_while_unknown():
    years = [
        year(2000, [0, 7, 7], [0, 1]),
        year(2001, [0, 7, 8, 1], [0, 1]),
        year(2003, [7, 8, 9], [0, 1, 7]),
    ]
    assert emerging_classes(years) == {7: 2000, 8: 2001, 9: 2003}


def test_without_label_delay_a_class_is_detected_in_the_year_of_its_birth_or_not_at_all():
    years = [
        year(2000, [0, 7, 7, 8, 8], [0], rejected=[1, 1, 0, 0, 0]),
        # From here on both are known: that they are rejected now is no detection.
        year(2001, [0, 7, 8], [0, 7, 8], rejected=[0, 1, 1]),
    ]
    assert delays(years) == {7: Value(0.0), 8: KNOWN_FIRST}


def test_with_late_labels_the_delay_counts_years_until_half_of_the_class_is_rejected():
    years = [
        year(2000, [0, 7, 7, 7], [0], rejected=[0, 1, 0, 0]),
        year(2003, [7, 7], [0], rejected=[1, 0]),
        year(2004, [7, 7], [0], rejected=[1, 1]),
        year(2005, [7], [0, 7], rejected=[0]),
    ]
    assert delays(years) == {7: Value(3.0)}
    assert delays(years, share=1.0) == {7: Value(4.0)}
    assert delays(years, share=0.3) == {7: Value(0.0)}


def test_a_class_still_new_and_unseen_in_the_last_year_is_never_detected():
    years = [
        year(2000, [7, 7], [0], rejected=[0, 0]),
        year(2001, [7, 9], [0], rejected=[0, 1]),
        year(2002, [0], [0], rejected=[1]),
    ]
    assert delays(years) == {7: NEVER, 9: Value(0.0)}


def test_a_class_absent_in_the_years_between_is_known_before_it_was_detected():
    years = [
        year(2000, [7], [0], rejected=[0]),
        year(2001, [0], [0], rejected=[0]),
        year(2002, [0], [0, 7], rejected=[0]),
    ]
    assert delays(years) == {7: KNOWN_FIRST}


def test_without_decisions_a_class_is_detected_by_its_auroc_against_the_known_vertices():
    years = [
        # Against five known vertices 7 wins four pairs of five; 8 wins three and ties in one: 0.7.
        year(2000, [0, 0, 0, 0, 0, 7, 8], [0], novelty=[0.1, 0.2, 0.3, 0.6, 0.9, 0.7, 0.6]),
        year(2001, [0, 7, 8], [0], novelty=[0.1, 0.0, 0.2]),
    ]
    assert delays(years) == {7: Value(0.0), 8: Value(1.0)}
    assert delays(years, auroc=0.7) == {7: Value(0.0), 8: Value(0.0)}
    assert delays(years, auroc=0.81) == {7: NEVER, 8: Value(1.0)}


def test_another_emerging_class_is_no_rival_when_a_class_is_ranked():
    years = [year(2000, [0, 7, 8], [0], novelty=[0.1, 0.2, 0.9])]
    assert delays(years) == {7: Value(0.0), 8: Value(0.0)}


def test_a_year_without_a_known_vertex_detects_nothing_by_novelty():
    assert delays([year(2000, [7, 8], [0], novelty=[0.9, 0.8])]) == {7: NEVER, 8: NEVER}


def test_decisions_count_where_both_decisions_and_novelty_are_given():
    years = [year(2000, [0, 7], [0], rejected=[0, 0], novelty=[0.1, 0.9])]
    assert delays(years) == {7: NEVER}


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=30),
    st.sampled_from([0.5, 0.6, 0.75, 0.8, 1.0]),
)
def test_detection_by_novelty_agrees_with_the_auroc_of_each_class_alone_ties_included(rows, cut):
    truth, novelty = (np.array(side) for side in zip(*rows, strict=True))
    novelty, known = novelty / 5, [0, 1]
    found = delays([year(2000, truth, known, novelty=novelty)], auroc=cut)
    assert set(found) == set(truth.tolist()) - {0, 1}
    for label, delay in found.items():
        among = np.isin(truth, [*known, label])
        alone = auroc(truth[among] == label, novelty[among]).value
        assert (delay.value == 0) == (alone is not None and alone >= cut)


def test_false_alarms_are_those_of_the_years_until_the_class_is_detected():
    years = [
        year(2000, [0, 0, 0, 7, 7], [0], rejected=[1, 0, 0, 0, 0]),
        year(2001, [0, 0, 7, 8], [0], rejected=[1, 1, 1, 0]),
        # 7 is detected already; only 8 is still looked for.
        year(2002, [0, 0, 0, 0, 0, 7, 8], [0], rejected=[0, 0, 0, 0, 0, 1, 0]),
        # Nothing to look for: 7 and 8 are known, or not scored.
        year(2003, [0, 7], [0, 7], rejected=[1, 1]),
    ]
    assert alarms(years) == {7: Value(3 / 5), 8: Value(2 / 7)}


def test_who_rejects_everything_detects_every_class_at_once_and_pays_with_every_known_vertex():
    years = [year(2000, [0, 0, 7, 8], [0], rejected=[1, 1, 1, 1])]
    assert detection_delay(years) == dict.fromkeys((7, 8), (Value(0.0), Value(1.0)))


def test_without_decisions_false_alarms_are_counted_at_the_cut_that_finds_half_of_the_class():
    # The two highest of the three of class 7 are 0.9 and 0.6; 0.6 and 0.7 of the known ones are not below 0.6.
    years = [year(2000, [0, 0, 0, 0, 7, 7, 7], [0], novelty=[0.1, 0.6, 0.5, 0.7, 0.9, 0.6, 0.0])]
    assert alarms(years) == {7: Value(2 / 4)}
    assert alarms(years, share=1 / 3) == {7: Value(0.0)}
    assert alarms(years, share=1.0) == {7: Value(1.0)}


def test_without_a_known_vertex_there_is_no_rate_of_false_alarms():
    assert alarms([year(2000, [7], [0], rejected=[1])]) == {7: Value(None, "no scored vertex of a known class")}


def test_the_lag_counts_from_the_first_model_that_knows_the_class():
    years = [
        # Named rightly while it was still unknown does not count.
        year(2000, [0, 7], [0], [0, 7]),
        year(2001, [7, 7, 7], [0, 7], [7, 0, 0]),
        year(2002, [0, 0], [0, 7], [0, 7]),
        year(2004, [7, 7], [0, 7], [7, 0]),
        year(2005, [7, 7], [0, 7], [7, 7]),
    ]
    assert classification_lag(years) == {7: Value(3.0)}
    assert classification_lag(years, share=1.0) == {7: Value(4.0)}
    assert classification_lag(years, share=1 / 3) == {7: Value(0.0)}


def test_a_class_without_a_lag_has_the_reason():
    years = [
        year(2000, [6, 7, 8], [0], [0, 0, 0]),
        year(2001, [7, 8], [0, 6, 7], [0, 7]),
    ]
    assert classification_lag(years) == {
        6: Value(None, "no scored vertex once it was known"),
        7: Value(None, "not classified correctly by the last year"),
        8: Value(None, "not known by the last year"),
    }


def test_a_class_known_from_the_start_has_neither_delay_nor_lag():
    years = [year(2000, [0, 1], [0, 1], [0, 0], rejected=[1, 1]), year(2001, [1], [0, 1], [1], rejected=[1])]
    assert detection_delay(years) == classification_lag(years) == emerging_classes(years) == {}


def test_a_rejected_vertex_may_still_be_classified_correctly():
    years = [year(2000, [7], [0], [0], rejected=[0]), year(2001, [7], [0, 7], [7], rejected=[1])]
    assert classification_lag(years) == {7: Value(0.0)}


@pytest.mark.parametrize("metric", [emerging_classes, detection_delay, classification_lag])
def test_the_order_of_the_years_makes_no_difference_and_no_year_has_no_class(metric):
    years = [
        year(2000, [0, 7, 7], [0], [0, 0, 0], [0, 0, 0]),
        year(2001, [7, 8], [0], [0, 0], [1, 0]),
        year(2002, [7, 8], [0, 7], [7, 0], [0, 1]),
    ]
    assert metric(years) == metric(years[::-1]) != {}
    assert metric([]) == {}


def test_a_year_without_scored_vertices_changes_nothing():
    nothing = np.array([], dtype=np.int64)
    empty = YearAnswers(2001, nothing, np.array([0]), nothing, nothing.astype(bool))
    years = [year(2000, [7], [0], [0], [0]), empty, year(2002, [7], [0], [0], [1])]
    assert delays(years) == {7: Value(2.0)}
    assert classification_lag(years) == {7: Value(None, "not known by the last year")}


def test_tables_that_cannot_be_read_are_refused_by_their_year():
    with pytest.raises(UsageError, match="two tables of answers for 2000"):
        emerging_classes([year(2000, [7], [0]), year(2000, [8], [0])])
    with pytest.raises(UsageError, match="2000 have neither rejections nor novelty"):
        detection_delay([year(2000, [7], [0])])
    with pytest.raises(UsageError, match="2000 have no predicted classes"):
        classification_lag([year(2000, [7], [0])])


def emergences(years, **given):
    return emergence([class_shares(one) for one in years], **given)


def test_a_class_has_emerged_when_its_accuracy_is_within_nine_tenths_of_its_final_one():
    years = [
        year(2000, [0, 7], [0], [0, 0]),
        year(2001, [7] * 10, [0, 7], [7] * 3 + [0] * 7),  # known, 0.3
        year(2003, [7] * 10, [0, 7], [7] * 9 + [0]),  # 0.9 is 0.9 of 1
        year(2004, [7] * 4, [0, 7], [7] * 4),
    ]
    assert emergences(years) == {7: Value(2.0)}
    assert emergences(years, share=0.25) == {7: Value(0.0)}


def test_the_final_accuracy_is_that_of_the_last_year_the_class_was_scored_in():
    years = [
        year(2000, [0], [0], [0]),
        year(2001, [7, 7], [0, 7], [7, 0]),
        year(2002, [7, 7], [0, 7], [7, 7]),
        year(2003, [7, 7], [0, 7], [7, 0]),  # it falls back to a half, which it had at once
        year(2004, [0], [0, 7], [0]),
    ]
    assert emergences(years) == {7: Value(0.0)}


def test_years_count_from_the_first_model_that_knows_the_class_however_late_its_labels_came():
    years = [
        year(2000, [7], [0], [0]),
        year(2001, [7], [0], [0]),
        year(2002, [0], [0, 7], [0]),  # known, and not scored
        year(2005, [7], [0, 7], [7]),
    ]
    assert emergences(years) == {7: Value(3.0)}


def test_a_class_that_was_known_from_the_start_does_not_emerge():
    assert emergences([year(2000, [0], [0, 1], [0]), year(2001, [1], [0, 1], [1])]) == {}


def test_a_class_that_is_not_recognised_at_the_end_or_never_scored_has_no_emergence():
    years = [
        year(2000, [0], [0], [0]),
        year(2001, [7, 7], [0, 7, 8], [7, 7]),
        year(2002, [7], [0, 7, 8], [0]),
    ]
    found = emergences(years)
    assert found[7] == Value(None, "not recognised in the last year it was scored in")
    assert found[8] == Value(None, "no scored vertex once it was known")
