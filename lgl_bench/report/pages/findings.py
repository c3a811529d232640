"""What the first screen says of every stream: who leads, what GOOD adds to its base, and what is above the floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lgl_bench.core.grammar import without_values
from lgl_bench.leaderboard.compare.standing import UNTESTED
from lgl_bench.leaderboard.floor import IS_FLOOR, NO, YES
from lgl_bench.report.data.rows import Place, ShownRow
from lgl_bench.report.panels.over_base import Gain, gain_on


@dataclass(frozen=True, slots=True)
class Finding:
    """A place: its best row, how the others stand to it, and the two sentences below it.

    Attributes:
        standing: How many are not told apart from the leader, in words.
        floor: How many beat random, degree and recency, in words.
        gain: What GOOD adds to its base; None if it was not run.
    """

    place: Place
    best: ShownRow
    standing: str
    floor: str
    gain: Gain | None


def findings(rows: Sequence[ShownRow]) -> list[Finding]:
    """Every place with a ranked row without a threshold, in the order of the rows: real streams before twins.

    A sweep, in which a backbone has the values of one detector alone, has no leader: it is left out if its stream has a
    place where detectors meet.
    """
    places: dict[Place, list[ShownRow]] = {}
    for row in rows:
        if not row.threshold and row.rank is not None:
            places.setdefault(row.place, []).append(row)
    met = {place for place, part in places.items() if _detectors_meet(part)}
    streams = {place.stream for place in met}
    return [
        Finding(place, part[0], _standing(part), _floor(part), gain_on(part, place))
        for place, part in places.items()
        if place in met or place.stream not in streams
    ]


def _detectors_meet(rows: Sequence[ShownRow]) -> bool:
    own = [(row.backbone, without_values(row.detector)) for row in rows if row.above_floor != IS_FLOOR]
    methods = set(own)
    swept = len(own) > len(methods) and len(methods) == len({backbone for backbone, _ in methods})
    return len({detector for _, detector in methods}) > 1 and not swept


def _standing(rows: Sequence[ShownRow]) -> str:
    others = rows[1:]
    if not others:
        return "the only one"
    tied = sum(not row.differs_from_best for row in others)
    if tied:
        return f"{tied} of {len(others)} others not told apart from it"
    if all(row.word == UNTESTED for row in others):
        return "not tested: fewer than three seeds"
    return f"ahead of {len(others)} others"


def _floor(rows: Sequence[ShownRow]) -> str:
    methods = [row for row in rows if row.above_floor != IS_FLOOR]
    tested = [row for row in methods if row.above_floor in (YES, NO)]
    above = sum(row.above_floor == YES for row in tested)
    if not methods:
        return "only the floor was run"
    if not any(row.above_floor == IS_FLOOR for row in rows):
        return "unknown: no random, degree or recency was run"
    if not tested:
        return "not tested: fewer than three seeds"
    return f"{above if above else 'none'} of {len(tested)} beat it beyond noise"
