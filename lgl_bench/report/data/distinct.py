"""Short names that are still distinct: of the cells of a key, only those that distinguish it from the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from lgl_bench.core.grammar import without_values


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


def short_names(texts: Iterable[str]) -> dict[str, str]:
    """Expressions by their names alone; with their values if two would have the same name.

    >>> short_names(["gat(heads=4)", "gat(heads=8)", "gcn(layers=2)"])
    {'gat(heads=4)': 'gat(heads=4)', 'gat(heads=8)': 'gat(heads=8)', 'gcn(layers=2)': 'gcn'}
    """
    distinct = list(dict.fromkeys(texts))
    names = [without_values(one) for one in distinct]
    return {one: name if names.count(name) == 1 else one for one, name in zip(distinct, names, strict=True)}
