"""The exact sign-flip test over years. It assumes independent years, which years of one growing graph are not."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import FloatArray

MIN_YEARS = 6
MAX_YEARS = 44
LABEL = "assumes independent years"


def sign_flip(differences: FloatArray) -> float:
    """Two-sided p: the share of the 2^n ways to set signs whose |sum| is at least the one seen.

    Every way is counted. The sums of either half of the years are listed and sorted, and pairs are counted by search,
    so that 44 years take as long as 2^22 sums.

    >>> sign_flip(np.array([1.0, 2.0, 3.0]))  # only +++ and --- reach 6, of 8
    0.25
    """
    n = len(differences)
    if n > MAX_YEARS:
        raise ValueError(f"{n} differences: the exact test is counted up to {MAX_YEARS}")
    sizes = np.abs(differences)
    # Sums that are equal in exact arithmetic must not be told apart by rounding.
    least = abs(float(np.sum(differences))) - 1e-12 * max(float(np.sum(sizes)), 1e-300)
    if least <= 0:
        return 1.0
    one, other = _sums(sizes[: n // 2]), np.sort(_sums(sizes[n // 2 :]))
    above = len(other) - np.searchsorted(other, least - one, side="left")
    # The distribution is symmetric: as many sums lie at or below -least.
    return float(2 * above.sum() / (len(one) * len(other)))


def _sums(sizes: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums
