"""Choosing ODIN's parameters and GOOD's base and alpha: it sees validation answers and nothing else.

Every candidate has one score per seed (AUROC on validation answers). The best mean over seeds wins; for alpha, the
smallest value within one standard error of the best, because a smaller neighbourhood weight claims less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.mixing import mix
from lgl_bench.core.types import BoolArray, FloatArray
from lgl_bench.metrics.ranking import auroc
from lgl_bench.plans.suite import Select

ALPHAS = tuple(round(0.1 * i, 1) for i in range(11))


class ValidationAnswers:
    """What a choice may look at: novelty and neighbour means of validation vertices, and which were new.

    Attributes:
        new: Whether each vertex turned out to be of a class that was not known.
        novelty: Per candidate.
        neighbour: Mean over the neighbours, per candidate.
    """

    def __init__(self, new: BoolArray, novelty: Mapping[str, FloatArray], neighbour: Mapping[str, FloatArray]) -> None:
        self.new = new
        self.novelty = dict(novelty)
        self.neighbour = dict(neighbour)

    def score(self, candidate: str, alpha: float = 0.0) -> float | None:
        """AUROC of a candidate, or of GOOD over it."""
        mixed = mix(self.novelty[candidate], self.neighbour[candidate], alpha)
        return auroc(self.new, mixed).value


class Round(NamedTuple):
    """What a choice needs to know of a task: whether it is for choosing, the class left out, the year scored."""

    validation: bool
    fold: str
    time: int


def validation_rounds(select: Select, tasks: Sequence[Round], position: int, label_delay: int = 0) -> list[int]:
    """Which tasks a choice for the task at `position` may look at.

    A label of year y has arrived by the time a task is trained for if y + label_delay is not after the last year of its
    training graph; before that nothing can be chosen on it.

    Args:
        select: "t1": the validation task; "prequential": every earlier task; "nested": the validation tasks of the same
            left-out class.
        tasks: Every task, in order.
        position: The task the choice is for.
        label_delay: Years until a label arrives.
    """
    if select in ("t1", "prequential"):
        # A task trains up to the year that the one before it scored.
        seen = [i for i in range(position) if tasks[i].time + label_delay <= tasks[position - 1].time]
        return seen if select == "prequential" else [i for i in seen if tasks[i].validation]
    if select == "nested":
        fold = tasks[position].fold
        return [i for i, task in enumerate(tasks) if task.validation and task.fold.split("/")[0] == fold]
    raise UsageError(f"select = '{select}' chooses nothing; it is one of t1, prequential, nested")


def choose_candidate(answers: Sequence[Sequence[ValidationAnswers]], candidates: Sequence[str]) -> str:
    """The candidate with the best mean; the first of equals.

    Args:
        answers: One list per seed.
        candidates: Canonical expressions.
    """
    means = [float(np.mean(_per_seed(answers, candidate, 0.0))) for candidate in candidates]
    return candidates[int(np.argmax(means))]


def choose_good(
    answers: Sequence[Sequence[ValidationAnswers]], candidates: Sequence[str], alphas: Sequence[float] = ALPHAS
) -> tuple[str, float]:
    """GOOD's base, best at its own alpha 0, and the smallest alpha within one standard error of the best."""
    base = choose_candidate(answers, candidates)
    table = np.array([_per_seed(answers, base, alpha) for alpha in alphas])
    means = table.mean(axis=1)
    best = int(np.argmax(means))
    seeds = table.shape[1]
    error = float(table[best].std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else 0.0
    within = np.flatnonzero(means >= means[best] - error)
    return base, float(alphas[int(within[0])])


def _per_seed(answers: Sequence[Sequence[ValidationAnswers]], candidate: str, alpha: float) -> FloatArray:
    rows = []
    for seed in answers:
        scores = [score for part in seed if (score := part.score(candidate, alpha)) is not None]
        if not scores:
            raise UsageError(
                "nothing can be chosen: no validation task has both new and known vertices; use select = preset"
            )
        rows.append(float(np.mean(scores)))
    return np.array(rows)
