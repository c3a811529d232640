"""GOOD with a chosen base and weight, and detectors with chosen parameters, from answers that are there already.

Nothing is trained or scored: GOOD at any alpha is (1 - alpha) S + alpha N of stored answers. What a choice for a task
may look at is cut out here; `select` sees nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lgl_bench.grading.answers import Answered
from lgl_bench.grading.selection import (
    ALPHAS,
    Round,
    ValidationAnswers,
    choose_candidate,
    choose_good,
    validation_rounds,
)
from lgl_bench.plans.suite import Select

Walk = Sequence[Answered | None]
"""The answers of one seed, task by task; None if a task was not answered."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice for one task.

    Attributes:
        candidate: What is scored.
        alpha: Weight of the neighbours; None if none takes part.
        by_preset: Whether nothing could be chosen, so that the preset's setting stands.
    """

    candidate: str
    alpha: float | None
    by_preset: bool = False

    @property
    def expression(self) -> str:
        """What was chosen, as an expression."""
        return self.candidate if self.alpha is None else f"good({self.candidate},alpha={self.alpha})"


def choose_over_tasks(
    walks: Mapping[str, Sequence[Walk]],
    tasks: Sequence[Round],
    select: Select,
    alphas: Sequence[float] = ALPHAS,
    label_delay: int = 0,
) -> list[Chosen | None]:
    """The choice for every task; None for validation tasks and those with nothing to choose on.

    Args:
        walks: Per candidate, one walk per seed. Candidates may come from different heads.
        tasks: What is known of each task.
        select: What a choice may look at.
        alphas: Weights of the neighbours to choose among; none if no neighbour takes part.
        label_delay: Years until a label arrives.
    """
    candidates = list(walks)
    chosen: list[Chosen | None] = []
    for position, task in enumerate(tasks):
        rounds = [i for i in validation_rounds(select, tasks, position, label_delay) if _usable(walks, i)]
        if (task.validation and select != "prequential") or not rounds:
            chosen.append(None)
            continue
        seen = [[_validation(walks, seed, i) for i in rounds] for seed in range(len(walks[candidates[0]]))]
        if alphas:
            chosen.append(Chosen(*choose_good(seen, candidates, alphas)))
        else:
            chosen.append(Chosen(choose_candidate(seen, candidates), None))
    return chosen


def _usable(walks: Mapping[str, Sequence[Walk]], position: int) -> bool:
    """Whether a task can distinguish candidates: all are answered with every seed, for new and known vertices."""
    first = next(iter(walks.values()))[0][position]
    return first is not None and 0 < first.new.sum() < len(first.new) and _answered(walks, position)


def _answered(walks: Mapping[str, Sequence[Walk]], position: int) -> bool:
    """Whether every candidate has an answer of every seed for a task."""
    return all(
        (answers := walk[position]) is not None and answers.columns.scores(candidate) is not None
        for candidate, seeds in walks.items()
        for walk in seeds
    )


def _validation(walks: Mapping[str, Sequence[Walk]], seed: int, position: int) -> ValidationAnswers:
    novelty, neighbour = {}, {}
    for candidate, seeds in walks.items():
        answers = seeds[seed][position]
        assert answers is not None
        scores = answers.columns.scores(candidate)
        assert scores is not None
        novelty[candidate], neighbour[candidate] = scores
        new = answers.new
    return ValidationAnswers(new, novelty, neighbour)
