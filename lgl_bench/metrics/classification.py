"""How well known classes are told apart."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import IntArray, Value


def accuracy(truth: IntArray, predicted: IntArray, known: IntArray) -> Value:
    """Share of right predictions among scored vertices of known classes.

    >>> accuracy(np.array([0, 1, 5]), np.array([0, 0, 0]), np.array([0, 1])).value
    0.5
    """
    among = np.isin(truth, known)
    if not among.any():
        return Value(None, "no scored vertex of a known class")
    return Value(float((truth[among] == predicted[among]).mean()))
