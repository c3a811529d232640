"""How the mix of classes changes from year to year."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import IntArray


def class_drift(before: IntArray, after: IntArray) -> float | None:
    """Total variation distance between two class distributions, in [0, 1]; None if one is empty.

    >>> class_drift(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2]))
    0.5
    """
    before, after = before[before >= 0], after[after >= 0]
    if not len(before) or not len(after):
        return None
    classes = int(max(before.max(), after.max())) + 1
    p = np.bincount(before, minlength=classes) / len(before)
    q = np.bincount(after, minlength=classes) / len(after)
    return float(np.abs(p - q).sum() / 2)


def drift_over_time(labels: IntArray, vertex_ends: tuple[int, ...]) -> list[float | None]:
    """For each year, the drift from everything born before it to what is born in it."""
    starts = (0, *vertex_ends[:-1])
    return [class_drift(labels[:a], labels[a:b]) for a, b in zip(starts, vertex_ends, strict=True)]
