from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.grading.answers import Answered
from lgl_bench.grading.choose import choose_over_tasks
from lgl_bench.grading.selection import (
    ALPHAS,
    Round,
    ValidationAnswers,
    choose_candidate,
    choose_good,
    validation_rounds,
)
from lgl_bench.runs.answer_columns import AnswerColumns

NEW = np.array([True, False, False])


class Scored:
    """Validation answers whose AUROC is written down: candidate -> alpha -> value."""

    def __init__(self, **values):
        self.values = values

    def score(self, candidate, alpha=0.0):
        return self.values[candidate][alpha]


def test_the_score_of_a_candidate_is_the_auroc_of_the_mix_with_its_neighbours():
    answers = ValidationAnswers(NEW, {"a": np.array([0.4, 0.5, 0.1])}, {"a": np.array([0.9, 0.2, 0.1])})
    assert answers.score("a") == 0.5
    assert answers.score("a", 0.1) == 0.5  # 0.45 against 0.47 and 0.1
    assert answers.score("a", 0.5) == 1.0  # 0.65 against 0.35 and 0.1


def test_alphas_are_those_of_the_paper():
    assert ALPHAS == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_alpha_is_the_smallest_within_one_standard_error_of_the_best():
    # Means .70 .79 .80 .785; the best has a standard error of .02, so .79 is within it and .70 is not.
    seeds = [
        [Scored(a={0.0: 0.68, 0.1: 0.78, 0.2: 0.78, 0.3: 0.78})],
        [Scored(a={0.0: 0.72, 0.1: 0.80, 0.2: 0.82, 0.3: 0.79})],
    ]
    assert choose_good(seeds, ["a"], (0.0, 0.1, 0.2, 0.3)) == ("a", 0.1)


def test_where_seeds_agree_the_best_alpha_itself_is_taken():
    seeds = [[Scored(a={0.0: 0.70, 0.1: 0.79, 0.2: 0.80})], [Scored(a={0.0: 0.70, 0.1: 0.79, 0.2: 0.80})]]
    assert choose_good(seeds, ["a"], (0.0, 0.1, 0.2)) == ("a", 0.2)


def test_one_seed_has_no_standard_error():
    assert choose_good([[Scored(a={0.0: 0.7, 0.1: 0.79, 0.2: 0.8})]], ["a"], (0.0, 0.1, 0.2)) == ("a", 0.2)


def test_the_base_is_the_candidate_with_the_best_mean_over_seeds():
    seeds = [[Scored(a={0.0: 0.9}, b={0.0: 0.8})], [Scored(a={0.0: 0.5}, b={0.0: 0.7})]]
    assert choose_candidate(seeds, ["a", "b"]) == "b"
    assert choose_candidate(seeds[:1], ["a", "b"]) == "a"
    assert choose_good(seeds, ["a", "b"], (0.0,)) == ("b", 0.0)


def test_the_first_of_equals_is_taken():
    seeds = [[Scored(a={0.0: 0.7}, b={0.0: 0.7})]]
    assert choose_candidate(seeds, ["b", "a"]) == "b"


def test_tasks_of_a_seed_are_averaged_and_those_without_an_auroc_left_out():
    seeds = [
        [Scored(a={0.0: 0.6}, b={0.0: 0.9}), Scored(a={0.0: 0.8}, b={0.0: 0.4}), Scored(a={0.0: None}, b={0.0: None})]
    ]
    assert choose_candidate(seeds, ["a", "b"]) == "a"  # 0.70 against 0.65


def test_nothing_can_be_chosen_where_no_task_has_both_kinds_of_vertices():
    only_known = ValidationAnswers(~NEW & False, {"a": np.arange(3.0)}, {"a": np.arange(3.0)})
    for choose in (choose_candidate, choose_good):
        with pytest.raises(UsageError, match="nothing can be chosen.*preset"):
            choose([[only_known]], ["a"])


YEARS = [Round(i == 0, "", year) for i, year in enumerate((2001, 2003, 2004, 2005))]


def test_what_a_choice_may_look_at():
    assert [validation_rounds("t1", YEARS, i) for i in (1, 3)] == [[0], [0]]
    assert [validation_rounds("prequential", YEARS, i) for i in range(4)] == [[], [0], [0, 1], [0, 1, 2]]
    folds = [Round("/" in fold, fold, 0) for fold in ("0/1", "0/2", "0", "1/0", "1/2", "1")]
    assert validation_rounds("nested", folds, 2) == [0, 1]
    assert validation_rounds("nested", folds, 5) == [3, 4]
    # Class 10 is not class 1.
    assert validation_rounds("nested", [Round("/" in fold, fold, 0) for fold in ("10/1", "1/10", "1")], 2) == [1]


def test_a_prequential_choice_waits_for_labels_that_arrive_late():
    # The task at position 3 trains up to 2004; with a delay of a year, labels up to 2003 are there.
    assert validation_rounds("prequential", YEARS, 3, label_delay=1) == [0, 1]
    assert validation_rounds("prequential", YEARS, 2, label_delay=1) == [0]
    assert validation_rounds("prequential", YEARS, 1, label_delay=1) == []


def test_a_way_of_choosing_that_looks_at_nothing_is_refused():
    with pytest.raises(UsageError, match="preset.*t1, prequential, nested"):
        validation_rounds("preset", [Round(True, "", 0)], 0)


OWN = np.array([0.1, 0.9, 0.2, 0.15, 0.3])
NEIGHBOURS = np.array([0.1, 0.9, 0.2, 0.8, 0.3])


def walk(seed, roles=("validation", "test", "test"), folds=("", "", "")):
    """Two of five vertices are new. Candidate a ranks them well, perfectly from alpha 0.3 on, and b as badly."""
    columns = {"novelty:a": OWN, "novelty:b": 1 - OWN, "neighbour:a": NEIGHBOURS, "neighbour:b": 1 - NEIGHBOURS}
    truth, known = np.array([0, 7, 1, 7, 0]), np.array([0, 1])
    return [
        Answered(time, role, fold, truth, known, truth == 7, AnswerColumns(columns))
        for time, (role, fold) in enumerate(zip(roles, folds, strict=True))
    ]


def both(*walks):
    return {"a": walks, "b": walks}


def choose(walks, select, alphas=ALPHAS, label_delay=0):
    tasks = [Round(answers.role == "validation", answers.fold, answers.time) for answers in walks[0]]
    return choose_over_tasks(both(*walks), tasks, select, alphas, label_delay)


def turned(answers):
    """The same task with every score turned round, so that b is the good one."""
    turned_round = {name: 1 - answers.columns[name] for name in answers.columns}
    return replace(answers, columns=AnswerColumns(turned_round))


def relabelled(answers):
    """The same task with known and new vertices swapped."""
    return replace(answers, truth=np.where(answers.new, 0, 7), new=~answers.new)


@pytest.mark.parametrize("changed", [turned, relabelled])
@pytest.mark.parametrize(("alphas", "alpha"), [(ALPHAS, 0.3), ((0.5,), 0.5), ((), None)])
def test_other_answers_or_labels_on_test_tasks_change_nothing_that_t1_chooses(changed, alphas, alpha):
    walks = [walk(seed) for seed in range(3)]
    others = [[w[0], changed(w[1]), changed(w[2])] for w in walks]
    chosen = choose(walks, "t1", alphas)
    assert chosen == choose(others, "t1", alphas)
    assert chosen[0] is None
    assert [(c.candidate, c.alpha) for c in chosen[1:]] == [("a", alpha)] * 2


@pytest.mark.parametrize("changed", [turned, relabelled])
def test_other_answers_or_labels_on_the_validation_task_do_change_what_t1_chooses(changed):
    others = [[changed(w[0]), *w[1:]] for w in (walk(seed) for seed in range(3))]
    assert choose(others, "t1")[1].candidate == "b"


@pytest.mark.parametrize("changed", [turned, relabelled])
def test_a_prequential_choice_sees_earlier_years_and_neither_its_own_nor_later_ones(changed):
    walks = [walk(seed) for seed in range(3)]

    def candidates(which):
        others = [[changed(pair) if i in which else pair for i, pair in enumerate(w)] for w in walks]
        return [choice and choice.candidate for choice in choose(others, "prequential")]

    assert candidates([]) == [None, "a", "a"]
    assert candidates([2]) == [None, "a", "a"]
    assert candidates([0])[:2] == [None, "b"]
    assert candidates([0, 1]) == [None, "b", "b"]
    assert candidates([1])[1] == "a"


def test_a_nested_choice_sees_the_validation_tasks_of_its_own_class_alone():
    roles, folds = ("validation", "test", "validation", "test"), ("0/1", "0", "1/0", "1")
    walks = [walk(seed, roles, folds) for seed in range(3)]
    chosen = choose(walks, "nested")
    assert [choice is None for choice in chosen] == [True, False, True, False]
    others = [[w[0], turned(w[1]), turned(w[2]), turned(w[3])] for w in walks]
    again = choose(others, "nested")
    assert again[1] == chosen[1] and again[1].candidate == "a" and again[3].candidate == "b"


def test_what_was_chosen_can_be_written_as_an_expression():
    (_, with_weight, _), (_, without, _) = (choose([walk(0), walk(1)], "t1", given) for given in (ALPHAS, ()))
    assert (with_weight.expression, without.expression) == ("good(a,alpha=0.3)", "a")


def test_a_task_that_one_seed_did_not_answer_is_not_chosen_on():
    walks = [walk(0), [None, *walk(1)[1:]]]
    tasks = [Round(i == 0, "", i) for i in range(3)]
    assert choose_over_tasks(both(*walks), tasks, "t1") == [None, None, None]


def test_without_a_task_to_choose_on_nothing_is_chosen():
    only_tests = [walk(0, ("test", "test"), ("0", "1"))]
    assert choose(only_tests, "t1") == [None, None]


def test_a_validation_task_without_new_vertices_chooses_nothing():
    walks = [walk(seed) for seed in range(2)]
    others = [[replace(w[0], truth=np.zeros(5, dtype=int), new=np.zeros(5, dtype=bool)), *w[1:]] for w in walks]
    assert choose(others, "t1") == [None, None, None]


def test_t1_chooses_nothing_before_the_labels_of_its_year_have_arrived():
    # The years are 0, 1, 2. Task 1 trains up to year 0, whose labels arrive in year 1; task 2 trains up to year 1.
    chosen = choose([walk(seed) for seed in range(3)], "t1", label_delay=1)
    assert [choice and choice.candidate for choice in chosen] == [None, None, "a"]
    assert choose([walk(seed) for seed in range(3)], "t1", label_delay=2) == [None, None, None]
