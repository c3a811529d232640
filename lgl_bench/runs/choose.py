"""GOOD with a chosen base and weight, and ODIN with chosen parameters, from answers that are there already.

Nothing is trained or scored: GOOD at any alpha is (1 - alpha) S + alpha N of stored answers. What a choice for a task
may look at is cut out here; `select` sees nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lgl_bench.core.errors import UsageError
from lgl_bench.runs.reading import Answered
from lgl_bench.runs.select import Round, Select, ValidationAnswers, choose_candidate, choose_good, validation_rounds

Walk = Sequence[Answered | None]
"""The answers of one seed, task by task; None where a task was not answered."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice for one task; `alpha` is None where no weight of the neighbours takes part."""

    candidate: str
    alpha: float | None

    @property
    def expression(self) -> str:
        """What was chosen, as an expression."""
        return self.candidate if self.alpha is None else f"good({self.candidate},alpha={self.alpha})"


def choose_over_tasks(
    walks: Mapping[str, Sequence[Walk]],
    tasks: Sequence[Round],
    select: Select,
    with_neighbours: bool = True,
    label_delay: int = 0,
) -> list[Chosen | None]:
    """The choice for every task; None for validation tasks and those with nothing to choose on.

    Args:
        walks: Per candidate, one walk a seed. Candidates may come from different heads.
        tasks: What is known of each task.
        select: What a choice may look at.
        with_neighbours: Whether alpha is chosen too, as for `good(auto)`.
        label_delay: Years until a label arrives.
    """
    candidates = list(walks)
    chosen: list[Chosen | None] = []
    for position, task in enumerate(tasks):
        rounds = [i for i in validation_rounds(select, tasks, position, label_delay) if _answered(walks, i)]
        if (task.validation and select != "prequential") or not rounds:
            chosen.append(None)
            continue
        seen = [[_validation(walks, seed, i) for i in rounds] for seed in range(len(walks[candidates[0]]))]
        if with_neighbours:
            chosen.append(Chosen(*choose_good(seen, candidates)))
        else:
            chosen.append(Chosen(choose_candidate(seen, candidates), None))
    if not any(chosen):
        raise UsageError(f"select = {select} found no task to choose on; use select = preset")
    return chosen


def _answered(walks: Mapping[str, Sequence[Walk]], position: int) -> bool:
    """Whether every candidate has an answer of every seed for a task."""
    return all(
        (answers := walk[position]) is not None and answers.novelty(candidate) is not None
        for candidate, seeds in walks.items()
        for walk in seeds
    )


def _validation(walks: Mapping[str, Sequence[Walk]], seed: int, position: int) -> ValidationAnswers:
    novelty, neighbour = {}, {}
    for candidate, seeds in walks.items():
        answers = seeds[seed][position]
        assert answers is not None
        novelty[candidate] = answers.columns[f"novelty:{candidate}"]
        neighbour[candidate] = answers.columns[f"neighbour:{candidate}"]
        new = answers.new
    return ValidationAnswers(new, novelty, neighbour)
