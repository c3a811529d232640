"""How well novelty ranks new vertices above known ones."""

from __future__ import annotations

import scipy.stats

from lgl_bench.core.types import BoolArray, FloatArray, Value


def auroc(new: BoolArray, novelty: FloatArray) -> Value:
    """Chance that a new vertex has a higher novelty than a known one, ties counting half (Mann and Whitney).

    >>> import numpy as np
    >>> auroc(np.array([True, False, False]), np.array([0.5, 0.5, 0.1])).value
    0.75
    """
    count_new, count_known = int(new.sum()), int((~new).sum())
    if not count_new or not count_known:
        return Value(None, "no new vertex" if not count_new else "no vertex of a known class")
    ranks = scipy.stats.rankdata(novelty)
    above = ranks[new].sum() - count_new * (count_new + 1) / 2
    return Value(float(above / (count_new * count_known)))
