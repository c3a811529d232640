"""GOOD with a chosen base and weight, and ODIN with chosen parameters, from answers that are there already.

Nothing is trained or scored: GOOD at any alpha is (1 - alpha) S + alpha N of stored answers. What a choice for a task
may look at is cut out here; `select` sees nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import FloatArray, IntArray, Truth
from lgl_bench.detectors.good import mix
from lgl_bench.runs.answers import TaskAnswers
from lgl_bench.runs.select import Round, Select, ValidationAnswers, choose_candidate, choose_good, validation_rounds

Walk = Sequence[tuple[TaskAnswers, Truth]]
"""The answers of one seed, task by task."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice for one task."""

    candidate: str
    alpha: float

    @property
    def expression(self) -> str:
        """What was chosen, as an expression."""
        return f"good({self.candidate},alpha={self.alpha})" if self.alpha else self.candidate


def choose_over_tasks(
    walks: Mapping[str, Sequence[Walk]], select: Select, with_neighbours: bool = True, label_delay: int = 0
) -> list[Chosen | None]:
    """The choice for every task that is scored; None for validation tasks and those not every seed answered.

    Args:
        walks: Per candidate, one walk a seed. Candidates may come from different heads.
        select: What a choice may look at.
        with_neighbours: Whether alpha is chosen too, as for `good(auto)`.
        label_delay: Years until a label arrives.
    """
    candidates = list(walks)
    first = walks[candidates[0]][0]
    tasks = [Round(a.task.role == "validation", a.task.fold, a.task.time) for a, _ in first]
    chosen: list[Chosen | None] = []
    for position, task in enumerate(tasks):
        rounds = [i for i in validation_rounds(select, tasks, position, label_delay) if _answered(walks, i)]
        if (task.validation and select != "prequential") or not _answered(walks, position) or not rounds:
            chosen.append(None)
            continue
        seen = [[_validation(walks, candidates, seed, i) for i in rounds] for seed in range(len(walks[candidates[0]]))]
        if with_neighbours:
            chosen.append(Chosen(*choose_good(seen, candidates)))
        else:
            chosen.append(Chosen(choose_candidate(seen, candidates), 0.0))
    if not any(chosen):
        raise UsageError(f"select = {select} found no task to choose on; use select = preset")
    return chosen


def chosen_answer(
    walks: Mapping[str, Sequence[Walk]], chosen: Chosen, seed: int, position: int
) -> tuple[IntArray, FloatArray]:
    """Predictions and novelty of the chosen method for one task."""
    answers, _ = walks[chosen.candidate][seed][position]
    own, neighbours = answers.novelty[chosen.candidate], answers.neighbour[chosen.candidate]
    return answers.predicted, mix(own, neighbours, chosen.alpha)


def _answered(walks: Mapping[str, Sequence[Walk]], position: int) -> bool:
    """Whether every candidate has an answer of every seed for a task."""
    return all(candidate in walk[position][0].novelty for candidate, seeds in walks.items() for walk in seeds)


def _validation(
    walks: Mapping[str, Sequence[Walk]], candidates: Sequence[str], seed: int, position: int
) -> ValidationAnswers:
    novelty, neighbour = {}, {}
    for candidate in candidates:
        answers, truth = walks[candidate][seed][position]
        novelty[candidate], neighbour[candidate] = answers.novelty[candidate], answers.neighbour[candidate]
    return ValidationAnswers(~np.isin(truth.labels, answers.task.known), novelty, neighbour)
