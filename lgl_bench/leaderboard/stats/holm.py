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


def level_divisors(p: FloatArray, alpha: float) -> FloatArray:
    """Of each test of a family, between how many tests the level was divided when Holm's step-down came to it.

    An interval at the level 1 - alpha / k, with k from here, leaves out 0 if and only if the adjusted p is below
    alpha: the i-th smallest of m p values is held against alpha / (m - i + 1), and with the first that is not below,
    the division stays as it is for all that follow. Equal p have the same. NaN is no test, and has 1.

    >>> level_divisors(np.array([0.01, 0.04, np.nan, 0.03]), 0.05).tolist()  # 0.01 < 0.05 / 3, then 0.03 >= 0.05 / 2
    [3.0, 2.0, 1.0, 2.0]
    """
    found = np.ones(len(p))
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    left = len(order) - np.searchsorted(p[order], p[order], side="left").astype(np.float64)
    open_ = np.flatnonzero(p[order] * left >= alpha)
    found[order] = np.maximum(left, left[open_[0]]) if len(open_) else left
    return found
