"""Headings of rows that may be compared: the stream, and whatever distinguishes it from other rows of that stream."""

from __future__ import annotations

from collections.abc import Iterable

from lgl_bench.leaderboard.table.schema import PLACE

_STREAM = PLACE.index("stream")
_SPLIT = PLACE.index("split")
_LONGEST = 12  # of a checksum so much is enough to see that two differ


def place_labels(places: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """A label per place, given by its cells `PLACE` as text; no two places have the same.

    >>> a = tuple("60-20-20" if name == "split" else "cora" if name == "stream" else "" for name in PLACE)
    >>> b = tuple("planetoid" if name == "split" else cell for name, cell in zip(PLACE, a))
    >>> list(place_labels([a, b]).values()), list(place_labels([a]).values())
    (['cora · 60-20-20', 'cora · planetoid'], ['cora'])
    """
    keys = list(dict.fromkeys(places))
    found = {}
    for key in keys:
        rivals = [other for other in keys if other[_STREAM] == key[_STREAM]]
        differs = [at for at in range(len(PLACE)) if len({other[at] for other in rivals}) > 1]
        parts = [f"{PLACE[at].replace('_', ' ')} {key[at][:_LONGEST] or 'none'}" for at in differs]
        found[key] = " · ".join([key[_STREAM], *([key[_SPLIT]] if differs == [_SPLIT] else parts)])
    return found
