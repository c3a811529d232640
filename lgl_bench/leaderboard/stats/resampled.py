"""The corrected resampled t-test: seeds that split one data set anew are not independent.

The mean of S paired differences has the variance (1/S + n_test/n_train) s^2, on S - 1 degrees of freedom. The plain
s^2/S takes the splits for independent samples; they share vertices, and the second term stands for what they share.
`evidence.py` does the arithmetic.

C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
"""

from __future__ import annotations

import re

from lgl_bench.core.errors import UsageError


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
    """n_test / n_train if every seed splits anew, 0 if all seeds have the same vertices."""
    return split_ratio(split) if is_random(split) else 0.0


def is_random(split: str) -> bool:
    """Whether every seed splits anew."""
    return re.fullmatch(r"\d+-\d+-\d+", split) is not None
