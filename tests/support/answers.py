"""What answers are worth before they are stored."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import Truth
from lgl_bench.metrics.ranking import auroc
from lgl_bench.runs.answering import TaskAnswers


def aurocs(answers: TaskAnswers, truth: Truth) -> dict[str, float | None]:
    """AUROC of every detector, by expression."""
    new = ~np.isin(truth.labels, answers.task.known)
    return {name: auroc(new, novelty).value for name, novelty in answers.novelty.items()}
