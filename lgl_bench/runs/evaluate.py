"""Grading the answers of one task: where answers and truth meet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lgl_bench.core.types import Truth, Value
from lgl_bench.metrics.classification import accuracy
from lgl_bench.metrics.decisions import macro_f1, mcc, micro_f1
from lgl_bench.metrics.ranking import auroc
from lgl_bench.runs.answers import TaskAnswers


@dataclass(frozen=True, slots=True)
class Grades:
    """Metrics of one task, per detector and per (detector, threshold)."""

    accuracy: Value
    new: int
    auroc: dict[str, Value] = field(default_factory=dict)
    decisions: dict[tuple[str, str], dict[str, Value]] = field(default_factory=dict)


def grade(answers: TaskAnswers, truth: Truth) -> Grades:
    """The grades of one task; a skipped one has none, with the reason."""
    if answers.skipped:
        return Grades(Value(None, answers.skipped), 0)
    known = answers.task.known
    new = ~np.isin(truth.labels, known)
    return Grades(
        accuracy=accuracy(truth.labels, answers.predicted, known),
        new=int(new.sum()),
        auroc={name: auroc(new, novelty) for name, novelty in answers.novelty.items()},
        decisions={
            key: {
                "micro_f1": micro_f1(new, rejected),
                "macro_f1": macro_f1(new, rejected),
                "mcc": mcc(new, rejected),
            }
            for key, rejected in answers.rejected.items()
        },
    )
