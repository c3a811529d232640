"""Which vertices of each class are remembered: shares of the classes, and the three ways to pick.

All classes have an equal share of a memory. A class with fewer vertices leaves its rest to the others, and what does
not divide goes to the classes with the smallest ids.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.strategies.contract import FitTask
from lgl_bench.strategies.memory import Memory

SAMPLED = 2000
"""Vertices that others are compared with at most; from a larger set so many are drawn."""
_ROWS = 1000  # compared at a time
_CLASSES, _SEEN = "classes", "seen"


def shares(counts: IntArray, size: int) -> IntArray:
    """Vertices that each class may keep, of those it has: as in rounds that give one to every class in turn.

    >>> shares(np.array([9, 1, 9]), 6).tolist(), shares(np.array([9, 9, 9]), 2).tolist()
    ([3, 1, 2], [1, 1, 0])
    """
    given = np.zeros_like(counts)
    left = min(size, int(counts.sum()))
    while left:
        unfilled = np.flatnonzero(given < counts)
        each = left // len(unfilled)
        if each == 0:
            given[unfilled[:left]] += 1
            break
        more = np.minimum(each, counts[unfilled] - given[unfilled])
        given[unfilled] += more
        left -= int(more.sum())
    return given


def reservoir(
    task: FitTask, old: BoolArray, memory: Memory, size: int, rng: np.random.Generator
) -> tuple[IntArray, dict[str, npt.NDArray[Any]]]:
    """Vertices drawn at random: per class a uniform sample of all that have ever been on offer, whatever their year.

    How many of a share are old ones is drawn as if all were still there (hypergeometric, with the number of vertices
    seen so far); which ones, uniformly. A share never grows once vertices of its class were given up, so what is left
    of them suffices.

    Args:
        task: Vertices whose label is new are candidates.
        old: Vertices that were drawn before are candidates too.
        memory: What the last call returned to be kept.
        size: Most vertices in all.
        rng: What is drawn comes from it.

    Returns:
        The vertices, and arrays to keep: how many vertices were seen of each class.
    """
    labels = task.train.labels
    old = old & task.task.fit_mask
    fresh = task.new & task.task.fit_mask & ~old
    seen: dict[int, int] = {}
    if _SEEN in memory.arrays:
        seen = dict(zip(memory.arrays[_CLASSES].tolist(), memory.arrays[_SEEN].tolist(), strict=True))
    classes = np.unique(np.array([*seen, *labels[old | fresh].tolist()], dtype=np.int64))
    pools = [(np.flatnonzero(old & (labels == one)), np.flatnonzero(fresh & (labels == one))) for one in classes]
    picked, totals = [np.empty(0, np.int64)], []
    counts = np.array([len(kept) + len(new) for kept, new in pools], dtype=np.int64)
    for one, (kept, new), share in zip(classes.tolist(), pools, shares(counts, size).tolist(), strict=True):
        before = max(seen.get(one, 0), len(kept))
        from_old = int(rng.hypergeometric(before, len(new), share))
        from_old = min(max(from_old, share - len(new)), len(kept))
        picked += [rng.choice(kept, from_old, replace=False), rng.choice(new, share - from_old, replace=False)]
        totals.append(before + len(new))
    return np.sort(np.concatenate(picked)), {_CLASSES: classes, _SEEN: np.array(totals, dtype=np.int64)}


def lowest(scores: FloatArray, labels: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Places of those with the lowest score of each class; which of equal ones is drawn."""
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.lexsort((rng.permutation(len(scores)), scores))
    allowed = shares(counts.astype(np.int64), size)
    picked = [order[codes[order] == code][: allowed[code]] for code in range(len(classes))]
    return np.sort(np.concatenate([np.empty(0, np.int64), *picked]))


def mean_distances(z: FloatArray, labels: IntArray) -> FloatArray:
    """Distance of each embedding to the mean of its class.

    >>> mean_distances(np.array([[0.0], [1.0], [5.0], [7.0]]), np.array([0, 0, 0, 1])).tolist()
    [2.0, 1.0, 3.0, 0.0]
    """
    found = np.zeros(len(z))
    for one in np.unique(labels):
        mine = labels == one
        found[mine] = np.linalg.norm(z[mine] - z[mine].mean(axis=0), axis=1)
    return found


def intruders(z: FloatArray, labels: IntArray, reach: float, rng: np.random.Generator) -> FloatArray:
    """Per embedding, how many of other classes lie within `reach` times the median distance between classes.

    The median is over all pairs of different classes. Of more than `SAMPLED` vertices so many are drawn: the median is
    over pairs of these, and these are counted.

    >>> z, rng = np.array([[0.0], [3.0], [4.0], [8.0]]), np.random.default_rng(0)
    >>> intruders(z, np.array([0, 0, 1, 1]), 0.5, rng).tolist()  # between classes: 4, 8, 1, 5; the median is 4.5
    [0.0, 1.0, 1.0, 0.0]
    """
    some = np.arange(len(z)) if len(z) <= SAMPLED else np.sort(rng.choice(len(z), SAMPLED, replace=False))
    apart = labels[some, None] != labels[some]
    if not apart.any():
        return np.zeros(len(z))
    limit = reach * float(np.median(cdist(z[some], z[some])[apart]))
    found = np.zeros(len(z))
    for start in range(0, len(z), _ROWS):
        rows = slice(start, start + _ROWS)
        near = cdist(z[rows], z[some]) <= limit
        found[rows] = (near & (labels[rows, None] != labels[some])).sum(axis=1)
    return found
