"""The corrected resampled t-test: seeds that split one data set anew are not independent.

C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
"""

from __future__ import annotations

import re

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import FloatArray
from lgl_bench.leaderboard.stats.student import FEWEST_SEEDS, Difference, from_error


def corrected_t(differences: FloatArray, test_to_train: float) -> Difference:
    """Mean d of S paired differences with variance (1/S + n_test/n_train) s^2, on S - 1 degrees of freedom.

    The plain variance s^2/S takes the splits for independent samples; they share vertices, and the second term stands
    for what they share.
    """
    n = len(differences)
    if n < FEWEST_SEEDS:
        return Difference(float(np.mean(differences)) if n else np.nan, np.nan, np.nan, np.nan)
    error = float(np.sqrt((1 / n + test_to_train) * np.var(differences, ddof=1)))
    return from_error(float(np.mean(differences)), error, n - 1)


def split_ratio(split: str) -> float:
    """n_test / n_train of a random split by its name.

    >>> round(split_ratio("60-20-20"), 4)
    0.3333
    """
    parts = re.fullmatch(r"(\d+)-(\d+)-(\d+)", split)
    if not parts or int(parts[1]) == 0:
        raise UsageError(f"the split '{split}' is not of the form train-validation-test, such as 60-20-20")
    return int(parts[3]) / int(parts[1])


def shared_part(split: str) -> float:
    """n_test / n_train where every seed splits anew, 0 where all seeds have the same vertices."""
    return split_ratio(split) if is_random(split) else 0.0


def is_random(split: str) -> bool:
    """Whether every seed splits anew."""
    return re.fullmatch(r"\d+-\d+-\d+", split) is not None
