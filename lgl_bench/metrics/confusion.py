"""F1 of every class at once: what macro F1 over known classes and open-set macro F1 share."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import FloatArray, IntArray


def codes(labels: IntArray, classes: IntArray) -> IntArray:
    """Position of each label in `classes` (ascending, distinct); `len(classes)` if it is none of them.

    >>> codes(np.array([7, 3, 5]), np.array([3, 7])).tolist()
    [1, 0, 2]
    """
    if not len(classes):
        return np.zeros(len(labels), dtype=np.int64)
    place = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[place] == labels, place, len(classes)).astype(np.int64)


def f1_per_class(truth: IntArray, predicted: IntArray, classes: int) -> FloatArray:
    """F1 of the classes 0, ..., `classes` - 1; NaN for a class that is neither there nor called.

    F1 = 2 * hits / (there + called): the harmonic mean of precision, hits / called, and recall, hits / there (van
    Rijsbergen 1979). A code of `classes` or more is a class nobody asks about: it only makes the other side a miss.

    >>> f1_per_class(np.array([0, 0, 1]), np.array([0, 1, 1]), 3).round(2).tolist()
    [0.67, 0.67, nan]
    """
    there, called, hits = (
        np.bincount(group, minlength=classes)[:classes] for group in (truth, predicted, truth[truth == predicted])
    )
    total = there + called
    f1: FloatArray = np.where(total > 0, 2.0 * hits / np.maximum(total, 1), np.nan)
    return f1
