"""How well known classes are distinguished."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import IntArray, Value
from lgl_bench.metrics.confusion import codes, f1_per_class


def accuracy(truth: IntArray, predicted: IntArray, known: IntArray) -> Value:
    """Share of right predictions among scored vertices of known classes.

    >>> accuracy(np.array([0, 1, 5]), np.array([0, 0, 0]), np.array([0, 1])).value
    0.5
    """
    among = np.isin(truth, known)
    if not among.any():
        return Value(None, "no scored vertex of a known class")
    return Value(float((truth[among] == predicted[among]).mean()))


def class_macro_f1(truth: IntArray, predicted: IntArray, known: IntArray) -> Value:
    """Mean F1 of the known classes that appear among the scored vertices, each class counting the same.

    Macro F1 (Yang and Liu 1999): F1_k = 2 TP_k / (2 TP_k + FP_k + FN_k), counted over scored vertices of known classes
    only, so that what is said of a new vertex makes no difference. A known class without a scored vertex this year has
    no recall and is left out; a vertex wrongly called so is a miss of its own class and nothing more.

    >>> found = class_macro_f1(np.array([0, 0, 1, 5]), np.array([0, 1, 1, 0]), np.array([0, 1, 2]))
    >>> round(found.value, 4)
    0.6667
    """
    among = np.isin(truth, known)
    if not among.any():
        return Value(None, "no scored vertex of a known class")
    classes = np.unique(truth[among])
    f1 = f1_per_class(codes(truth[among], classes), codes(predicted[among], classes), len(classes))
    return Value(float(f1.mean()))
