"""From vertex ids to positions, and pairs of positions as single numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lgl_bench.core.types import IntArray


def positions(ids: IntArray) -> Callable[[IntArray], IntArray]:
    """A function from ids to their position in `ids`; -1 for an id that is not there.

    >>> positions(np.array([7, 3, 5]))(np.array([5, 7, 4])).tolist()
    [2, 0, -1]
    """
    if len(ids) and ids.min() >= 0 and ids.max() < 4 * len(ids) + 1024:
        table = np.full(int(ids.max()) + 1, -1, dtype=np.int64)
        table[ids] = np.arange(len(ids))

        def by_table(wanted: IntArray) -> IntArray:
            inside = (wanted >= 0) & (wanted < len(table))
            return table[wanted] if inside.all() else np.where(inside, table[np.where(inside, wanted, 0)], -1)

        return by_table
    order = np.argsort(ids, kind="stable")
    ascending = ids[order]

    def by_search(wanted: IntArray) -> IntArray:
        at = np.minimum(np.searchsorted(ascending, wanted), max(len(ids) - 1, 0))
        return np.where(ascending[at] == wanted, order[at], -1) if len(ids) else np.full(wanted.shape, -1)

    return by_search


def distinct_pairs(one: IntArray, other: IntArray, vertices: int) -> IntArray:
    """Each undirected pair once, without self-loops, as greater * vertices + lesser, ascending.

    One number per pair: sorting it takes a fraction of the time and memory of sorting columns.

    >>> distinct_pairs(np.array([0, 2, 1, 1]), np.array([2, 0, 1, 0]), 3).tolist()
    [3, 6]
    """
    codes = np.maximum(one, other)
    codes *= vertices
    codes += np.minimum(one, other)
    codes = codes[one != other]
    codes.sort()
    first = np.ones(len(codes), dtype=np.bool_)
    first[1:] = codes[1:] != codes[:-1]
    distinct: IntArray = codes[first]
    return distinct
