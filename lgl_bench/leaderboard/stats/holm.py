"""Holm's step-down adjustment: how likely any of several true nulls is rejected."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import FloatArray


def holm(p: FloatArray) -> FloatArray:
    """Adjusted p values of one family: the i-th smallest times the number not smaller, made ascending, at most 1.

    NaN is no test and does not count.

    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).round(2).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    found = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    stepped = p[order] * (len(order) - np.arange(len(order)))
    found[order] = np.minimum(np.maximum.accumulate(stepped), 1.0) if len(order) else stepped
    return found
