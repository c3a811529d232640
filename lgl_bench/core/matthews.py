"""Matthews' correlation of counts: what ranks decisions, and what the oracle's cut maximises."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lgl_bench.core.types import FloatArray


def matthews(tp: npt.ArrayLike, tn: npt.ArrayLike, fp: npt.ArrayLike, fn: npt.ArrayLike) -> FloatArray:
    """(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN)), Matthews 1975; 0 if a margin is empty.

    New is positive, and rejected is called positive. Counts may be arrays, and weighted.

    >>> round(float(matthews(1, 2, 0, 1)), 4)
    0.5774
    """
    tp, tn, fp, fn = (np.asarray(count, dtype=np.float64) for count in (tp, tn, fp, fn))
    # Paired so that a perfect decision gives exactly 1: the root of a square.
    below = np.sqrt(((tp + fp) * (tn + fn)) * ((tp + fn) * (tn + fp)))
    there = below > 0
    found: FloatArray = np.where(there, (tp * tn - fp * fn) / np.where(there, below, 1.0), 0.0)
    return found
