"""Short names that are still distinct: of the cells of a key, only those that distinguish it from the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def telling(keys: Collection[tuple[str, ...]], order: Iterable[int], given: Sequence[int] = ()) -> list[int]:
    """Positions whose cells, with those of `given`, are enough to distinguish the keys, tried in this order.

    >>> telling([("a", "1", "x"), ("a", "2", "x"), ("b", "2", "x")], order=(2, 1, 0))
    [1, 0]
    """
    found: list[int] = []
    count = _distinct(keys, given)
    for at in order:
        more = _distinct(keys, (*given, *found, at))
        if more > count:
            found.append(at)
            count = more
    return found


def _distinct(keys: Iterable[tuple[str, ...]], at: Sequence[int]) -> int:
    return len({tuple(key[i] for i in at) for key in keys})
