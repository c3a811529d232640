"""What every metric must keep."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from lgl_bench.checks.failure import Exempt, require
from lgl_bench.core.types import BoolArray, Value
from lgl_bench.metrics import GradedAnswers, Metric, SeedAnswers, metrics

# Says how many vertices are new, or are called new: neither end of it is better.
_NOT_A_GRADE = ("prevalence", "rejected_share")


def returns_a_value_in_its_range(name: str) -> None:
    """A finite number within `range`, or None with a reason; never NaN."""
    for answers in _cases():
        found = _graded(name, answers)
        if found.value is None:
            require(found.reason, "it has no value, and no reason; return Value(None, 'why')")
            continue
        low, high = metrics.get(name).range
        inside = (low is None or found.value >= low) and (high is None or found.value <= high)
        require(math.isfinite(found.value) and inside, f"it returned {found.value}, outside its range ({low}, {high})")


def leaves_what_it_cannot_grade_undefined(name: str) -> None:
    """No vertex to look at: no value, and the reason."""
    empty = _part(_answers(), np.zeros(len(_answers().new), dtype=bool))
    require(_graded(name, empty).value is None, "it graded a task without vertices; return Value(None, 'why')")


def grades_the_same_again(name: str) -> None:
    """The grade depends on the answers alone, not on what was graded before."""
    first = [_graded(name, answers) for answers in _cases()]
    again = [_graded(name, answers) for answers in reversed(_cases())][::-1]
    require(first == again, "it graded the same answers differently; keep nothing from one task to the next")


def does_not_depend_on_the_order_of_vertices(name: str) -> None:
    """Vertices have no order."""
    answers = _answers()
    turned = _taken(answers, np.arange(len(answers.new))[::-1])
    one, other = _graded(name, answers).value, _graded(name, turned).value
    require(
        one is not None and other is not None and math.isclose(one, other, abs_tol=1e-9),
        f"it is {one}, and {other} if the vertices are listed the other way round",
    )


def prefers_right_answers(name: str) -> None:
    """Perfect answers are worth more than wrong ones, in the direction `higher_is_better` says."""
    if name in _NOT_A_GRADE:
        raise Exempt("it counts, and neither more nor less of it is better")
    right, wrong = _graded(name, _perfect()).value, _graded(name, _wrong()).value
    if right is None or wrong is None:
        require(False, "it has no value where known and new vertices are answered for")
        return
    better = right > wrong if metrics.get(name).higher_is_better else right < wrong
    require(better, f"perfect answers are worth {right:g} and wrong ones {wrong:g}; is higher_is_better right?")


def draws_what_it_grades(name: str) -> None:
    """With every vertex drawn once, the resampling kernel returns the metric."""
    plugin = metrics.get(name)
    if not plugin.has_kernel():
        raise Exempt("it has no resampling kernel, so its intervals are Student's")
    answers = _answers()
    seeds = SeedAnswers(answers.novelty[None], answers.correct[None], answers.rejected[None])
    drawn = plugin().kernel(answers.new, seeds)(np.ones((len(answers.new), 1)))
    found = _graded(name, answers).value
    require(
        found is not None and np.shape(drawn) == (1, 1) and math.isclose(float(drawn[0, 0]), found, abs_tol=1e-9),
        f"the kernel returns {np.asarray(drawn).tolist()} with every weight 1; the metric is {found}",
    )


CHECKS = (
    returns_a_value_in_its_range,
    leaves_what_it_cannot_grade_undefined,
    grades_the_same_again,
    does_not_depend_on_the_order_of_vertices,
    prefers_right_answers,
    draws_what_it_grades,
)


def _graded(name: str, answers: GradedAnswers) -> Value:
    plugin = metrics.get(name)
    if not issubclass(plugin, Metric):
        raise Exempt("it is graded from the decisions of all years together, not task by task")
    # As in a run: a metric is given what it declares that it needs, and a decision comes with its novelty.
    decided = "decision" in plugin.needs
    scores = answers.scores if decided or "novelty" in plugin.needs else None
    found = plugin()(replace(answers, scores=scores, decisions=answers.decisions if decided else None))
    require(isinstance(found, Value), f"it returned {type(found).__name__}; return lgl_bench.core.types.Value")
    return found


@cache
def _answers() -> GradedAnswers:
    """Answers to a task of three known classes and a new one, better than chance and not perfect."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 200)
    new = truth == 3
    predicted = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200)) % 3
    novelty = np.round(np.clip(0.3 * new + 0.7 * rng.random(200), 0, 1), 2)
    return GradedAnswers(
        truth=truth,
        known=np.arange(3),
        new=new,
        predicted=predicted,
        confidence=rng.uniform(0.4, 1.0, 200),
        scores=novelty,
        decisions=novelty > 0.6,
    )


def _perfect() -> GradedAnswers:
    answers = _answers()
    return replace(
        answers,
        predicted=answers.truth % 3,
        confidence=np.where(answers.new, 0.5, 1.0),
        scores=answers.new.astype(np.float64),
        decisions=answers.new,
    )


def _wrong() -> GradedAnswers:
    answers = _answers()
    return replace(
        answers,
        predicted=(answers.truth + 1) % 3,
        confidence=np.where(answers.new, 0.5, 1.0),
        scores=(~answers.new).astype(np.float64),
        decisions=~answers.new,
    )


def _cases() -> list[GradedAnswers]:
    """Answers of every kind: both sorts of vertices, only known, only new, everybody called new, nobody."""
    answers = _answers()
    everybody, nobody = np.ones(len(answers.new), dtype=bool), np.zeros(len(answers.new), dtype=bool)
    return [
        answers,
        _perfect(),
        _wrong(),
        _part(answers, ~answers.new),
        _part(answers, answers.new),
        replace(answers, decisions=everybody),
        replace(answers, decisions=nobody),
        replace(answers, scores=np.zeros(len(answers.new))),
    ]


def _part(answers: GradedAnswers, kept: BoolArray) -> GradedAnswers:
    return _taken(answers, np.flatnonzero(kept))


def _taken(answers: GradedAnswers, vertices: np.ndarray) -> GradedAnswers:
    return GradedAnswers(
        truth=answers.truth[vertices],
        known=answers.known,
        new=answers.new[vertices],
        predicted=answers.predicted[vertices],
        confidence=answers.confidence[vertices],
        scores=answers.novelty[vertices],
        decisions=answers.rejected[vertices],
    )
