"""The hand-written loop: what it hands out, what it takes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import lgl_bench
from lgl_bench.core.errors import UsageError
from tests.api.test_streams import assert_no_label_leaks, relabelled
from tests.support.external import answered, nearest_mean
from tests.support.graphs import small_stream


def own_rows(result):
    return result.all[result.all["detector"] == "mine"]


@pytest.fixture(scope="module")
def stream():
    return small_stream()


@pytest.fixture
def evaluation(stream):
    return lgl_bench.Evaluation(stream, method="mine")


def first(evaluation):
    return next(iter(evaluation))


def test_the_grades_of_a_loop_are_those_worked_out_by_hand(stream):
    evaluation = answered(stream)
    row = own_rows(evaluation.result()).iloc[0]
    noise, weighted, new = np.random.default_rng, 0.0, 0
    for task in lgl_bench.tasks(stream):
        unknown = ~np.isin(stream.labels[task.scored], task.known)
        if task.role == "test" and unknown.any():
            novelty = nearest_mean(task)[1]
            novelty = novelty + 1e-3 * noise(0).normal(size=len(novelty))
            # The share of pairs of a new and a known vertex in which the new one looks newer.
            weighted += unknown.sum() * (novelty[unknown][:, None] > novelty[~unknown]).mean()
            new += unknown.sum()
    assert row["auroc_weighted_mean"] == pytest.approx(weighted / new)
    assert row["backbone"] == "external-mine" and row["head"] == row["preset"] == "external"
    assert row["trust"] == "self-reported" and row["suite"] == "temporal" and row["budget"] == "paper"


def test_the_floor_stands_beside_the_method_and_three_seeds_have_intervals(stream):
    found = answered(stream, seeds=3).result()
    assert set(found.all["detector"]) == {"mine", "random", "degree", "recency"}
    row = own_rows(found).iloc[0]
    assert row["accuracy_n_seeds"] == 3 and row["auroc_weighted_lo"] <= row["auroc_weighted_hi"]


def test_leave_class_out_is_answered_fold_by_fold_with_a_split_per_seed():
    stream = small_stream(static=True)
    evaluation = answered(stream, protocol="leave-class-out", seeds=2)
    found = evaluation.result()
    row = own_rows(found).iloc[0]
    assert row["protocol"] == "leave-class-out" and row["auroc_mean_n_years"] == 4 and row["suite"] == "static"
    assert set(found.years["seed"]) == {0, 1}


def test_nothing_reachable_from_a_task_of_the_loop_holds_a_label_of_what_it_asks_about(stream):
    evaluation = lgl_bench.Evaluation(stream, method="mine")
    for task in evaluation:
        other = lgl_bench.Evaluation(relabelled(stream, task.time), method="mine")
        assert_no_label_leaks(task, next(one for one in other if one.time == task.time))


def test_a_task_without_an_answer_is_a_failed_year_with_its_reason(stream):
    evaluation = lgl_bench.Evaluation(stream, method="mine")
    for task in evaluation:
        if task.time == 3:
            continue
        if task.time == 4:
            break
        predicted, novelty = nearest_mean(task)
        evaluation.answer(task, predicted=predicted, novelty=novelty)
    found = evaluation.result()
    years = found.years[found.years["detector"] == "mine"].set_index("time")
    assert years.loc[2, "status"] == "ok"
    assert "before the next task was asked for" in years.loc[3, "reason"]
    assert "the loop ended before this task" in years.loc[4, "reason"]
    assert own_rows(found).iloc[0]["failed_years"] == 2 and "2 tasks have no answer" in repr(found)


def test_a_loop_that_raised_goes_on_with_the_task_that_is_still_open(stream, evaluation):
    with pytest.raises(ZeroDivisionError):
        for task in evaluation:
            predicted, novelty = nearest_mean(task)
            if task.time == 3:
                raise ZeroDivisionError
            evaluation.answer(task, predicted=predicted, novelty=novelty)
    seen = []
    for task in evaluation:
        seen.append(task.time)
        predicted, novelty = nearest_mean(task)
        evaluation.answer(task, predicted=predicted, novelty=novelty)
    assert seen == [3, 4] and own_rows(evaluation.result()).iloc[0]["failed_years"] == 0


def test_a_task_is_answered_once(evaluation):
    task = first(evaluation)
    predicted, novelty = nearest_mean(task)
    evaluation.answer(task, predicted=predicted, novelty=novelty)
    with pytest.raises(UsageError, match="the task of 2, seed 0, is answered already"):
        evaluation.answer(task, predicted=predicted, novelty=novelty)


def test_a_task_is_not_answered_after_labels_that_tell_about_it_were_handed_out(evaluation):
    task, *_ = list(evaluation)
    predicted, novelty = nearest_mean(task)
    with pytest.raises(UsageError, match="cannot be answered any more: later tasks"):
        evaluation.answer(task, predicted=predicted, novelty=novelty)


def test_a_task_of_another_evaluation_is_refused(stream, evaluation):
    first(evaluation)
    task = first(lgl_bench.Evaluation(stream, method="other"))
    with pytest.raises(UsageError, match="not handed out by this evaluation"):
        evaluation.answer(task, predicted=[], novelty=[])


def test_without_any_answer_there_is_no_result(evaluation):
    with pytest.raises(UsageError, match="no task was answered yet"):
        evaluation.result()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"predicted": lambda p: p[:-1]}, r"predicted has the shape \(\d+,\); one value for each of task.scored is"),
        ({"predicted": lambda p: p + 1000}, r"predicted\[0\] = 100\d is no class that is known .* task.known\[j\]"),
        ({"predicted": lambda p: p + 0.5}, "predicted is of type float64; give whole numbers"),
        ({"novelty": lambda n: np.where(np.arange(len(n)) == 4, np.nan, n)}, r"novelty\[4\] = nan: 1 of"),
        ({"novelty": lambda n: n[:, None]}, "novelty has the shape"),
        ({"novelty": lambda n: n.astype(str)}, "novelty is of type"),
        ({"rejected": lambda n: n}, "rejected is of type float64"),
        ({"confidence": lambda n: n * 0 + 1.5}, r"confidence\[0\] = 1.5: a probability"),
        ({"novelty": lambda n: None}, "predicted= and novelty= go together"),
    ],
)
def test_an_answer_that_cannot_be_graded_is_refused_with_what_is_wrong(evaluation, change, said):
    task = first(evaluation)
    predicted, novelty = nearest_mean(task)
    given = {"predicted": predicted, "novelty": novelty}
    for name, edit in change.items():
        given[name] = edit(given.get(name, novelty))
    with pytest.raises(UsageError, match=said):
        evaluation.answer(task, **given)


def test_scores_of_all_vertices_are_refused_with_the_remedy(evaluation):
    task = first(evaluation)
    predicted, _ = nearest_mean(task)
    with pytest.raises(UsageError, match=r"take novelty\[task.scored\]"):
        evaluation.answer(task, predicted=predicted, novelty=np.zeros(task.test.num_vertices))


@pytest.mark.parametrize("kind", [list, np.asarray, lambda values: __import__("torch").as_tensor(values)])
def test_lists_arrays_and_tensors_are_taken(evaluation, kind):
    task = first(evaluation)
    predicted, novelty = nearest_mean(task)
    evaluation.answer(task, predicted=kind(predicted), novelty=kind(novelty))
    assert len(evaluation.result().board) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "Mine Own"}, "use lower-case letters"),
        ({"method": "msp"}, "that is a registered detector"),
        ({"method": "external"}, "meaning of its own"),
        ({"method": "mine", "seeds": 0}, "seeds = 0"),
        ({"method": "mine", "seed": 1, "seeds": 3}, "not both"),
        ({"method": "mine", "protocol": "leave-class-out"}, "is for static graphs"),
        ({"method": "mine", "protocol": "tempral"}, "did you mean 'temporal'"),
        ({"method": "mine", "budget": "huge"}, "unknown budget 'huge'"),
    ],
)
def test_a_wrong_request_is_refused_before_a_task_is_handed_out(stream, options, said):
    with pytest.raises(UsageError, match=said):
        next(iter(lgl_bench.Evaluation(stream, **options)))


def test_the_scale_of_novelty_does_not_matter(stream):
    found = []
    for scale in (lambda n: n, lambda n: n**3 * 1e6 - 5e7, lambda n: 1 / (1 + np.exp(-n / 100))):
        evaluation = lgl_bench.Evaluation(stream, method="mine")
        for task in evaluation:
            predicted, novelty = nearest_mean(task)
            evaluation.answer(task, predicted=predicted, novelty=scale(novelty))
        found.append(own_rows(evaluation.result())[["auroc_weighted_mean", "aupr_mean", "fpr95_mean", "oscr_mean"]])
    assert np.allclose(found[0], found[1]) and np.allclose(found[0], found[2])


def test_a_method_that_decides_has_rows_beside_never_always_and_the_oracle(stream):
    found = answered(stream, decides=True).result().all
    assert set(found[found["detector"] == "mine"]["threshold"]) == {"", "external", "never", "always", "oracle"}
    decided = found[found["threshold"] == "external"].iloc[0]
    assert decided["mcc_mean"] == decided["mcc_mean"] and decided["recall_new_mean"] >= 0


def test_calibration_is_undefined_unless_the_method_gives_probabilities(stream):
    plain = answered(stream).result().years
    assert set(plain["ece_reason"]) == {"the answers give no probability of the predicted class"}
    evaluation = lgl_bench.Evaluation(stream, method="mine")
    for task in evaluation:
        predicted, novelty = nearest_mean(task)
        evaluation.answer(task, predicted=predicted, novelty=novelty, confidence=np.full(len(novelty), 0.75))
    assert evaluation.result().years["ece"].notna().all()


def test_a_result_is_short_as_text_and_a_table_as_html(stream):
    found = answered(stream).result()
    assert len(repr(found).splitlines()) < 10 and "external-mine" in repr(found)
    assert "<table" in found._repr_html_() and found.frame.shape[1] < found.all.shape[1] / 5


@pytest.mark.parametrize(("progress", "drawn"), [(None, False), (False, False), (True, True)])
def test_a_bar_is_drawn_if_it_is_asked_for_and_not_by_itself_where_nobody_watches(stream, capsys, progress, drawn):
    answered(stream, progress=progress)
    assert ("mine: 100%" in capsys.readouterr().err) == drawn
