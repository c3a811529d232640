"""Classes that emerge: how long until they are detected, and until they are classified once their labels are there.

A delay never stands alone: rejecting everything detects every class at once, so the share of known vertices that the
same decisions call new is part of the answer.

A class emerges in the first year it appears among the scored vertices while the model does not know it. Without a label
delay it is new in that year alone and known from the next year on; with a delay it stays new for longer. Everything is
read off the stored answers, year by year; delays are differences of years, so a gap between years counts in full.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Value


@dataclass(frozen=True, slots=True)
class YearAnswers:
    """What one method answered for the scored vertices of one year, with the truth.

    Attributes:
        time: The year the scored vertices belong to.
        truth: Their classes.
        known: The classes known to the model that answered.
        predicted: The class each vertex is given; only `classification_lag` reads it.
        rejected: Which are called new, if there is a threshold.
        novelty: How novel each looks; only read if `rejected` is not given.
    """

    time: int
    truth: IntArray
    known: IntArray
    predicted: IntArray | None = None
    rejected: BoolArray | None = None
    novelty: FloatArray | None = None


class Detection(NamedTuple):
    """When a class was detected, and at which price.

    Attributes:
        delay: Years from its birth; without one, why it was not detected.
        false_alarm_rate: Share of known vertices that the same decisions call new.
    """

    delay: Value
    false_alarm_rate: Value


def emerging_classes(years: Sequence[YearAnswers]) -> dict[int, int]:
    """The year each class was born: when it first appears among the scored vertices, unknown to the model.

    A class that is known in the first year given, or known whenever it is scored, does not emerge.

    >>> early = YearAnswers(2000, np.array([0, 7]), known=np.array([0]))
    >>> later = YearAnswers(2001, np.array([7, 8]), known=np.array([0, 7]))
    >>> emerging_classes([later, early])
    {7: 2000, 8: 2001}
    """
    born: dict[int, int] = {}
    for year in _ordered(years):
        for label in np.setdiff1d(year.truth, year.known).tolist():
            born.setdefault(label, year.time)
    return born


def detection_delay(years: Sequence[YearAnswers], share: float = 0.5, auroc: float = 0.8) -> dict[int, Detection]:
    """Years from the birth of each emerging class until it is detected while it is still new, with the false alarms.

    A class is detected in a year when at least `share` of its scored vertices are rejected; for a plain cut, `rejected`
    is novelty above it. If the year has no decisions, only novelty, it is detected when the AUROC of its vertices
    against the scored vertices of known classes is at least `auroc`; without a vertex of a known class there is no
    AUROC and it is not detected. Years in which the class has no scored vertex show nothing, but count. A class that is
    not detected has no delay: it was known before it was detected, or is still new in the last year given.

    The false-alarm rate is that of the years the class was looked for: those in which it was scored while new, up to
    the one that detected it. It is the number of their known vertices that were rejected, divided by the number of
    their known vertices. If there are no decisions, a known vertex counts as rejected if its novelty is not below
    the highest cut that still finds `share` of the class in that year.

    >>> first = YearAnswers(2000, np.array([0, 7, 7]), np.array([0]), rejected=np.array([False, False, False]))
    >>> second = YearAnswers(2001, np.array([0, 7, 7]), np.array([0]), rejected=np.array([True, True, False]))
    >>> found = detection_delay([first, second])[7]
    >>> found.delay.value, found.false_alarm_rate.value
    (1.0, 0.5)
    """
    ordered = _ordered(years)
    delays: dict[int, Value] = {}
    counts: dict[int, list[int]] = {}
    born = emerging_classes(ordered)
    for year in ordered:
        known = int(np.isin(year.truth, year.known).sum())
        for label, found, alarms in _detected(year, share, auroc):
            if label in delays:
                continue
            so_far = counts.setdefault(label, [0, 0])
            so_far[0] += alarms
            so_far[1] += known
            if found:
                delays[label] = Value(float(year.time - born[label]))
    known_later = {label for year in ordered for label in year.known.tolist()}
    for label in born:
        late = "known before it was detected" if label in known_later else "never detected by the last year"
        delays.setdefault(label, Value(None, late))
    return {label: Detection(delays[label], _rate(*counts[label])) for label in born}


def _rate(alarms: int, known: int) -> Value:
    return Value(alarms / known) if known else Value(None, "no scored vertex of a known class")


def classification_lag(years: Sequence[YearAnswers], share: float = 0.5) -> dict[int, Value]:
    """Years from when each emerging class is known until it is classified correctly; 0 is at once.

    It is known from the first year whose model knows it: the first model that could learn from its labels. It is
    classified correctly in a year when at least `share` of its scored vertices are given its class, rejected or not, as
    in `accuracy`. Years in which the class has no scored vertex show nothing, but count.

    >>> birth = YearAnswers(2000, np.array([7]), np.array([0]), np.array([0]))
    >>> after = YearAnswers(2001, np.array([7, 7, 7]), np.array([0, 7]), np.array([0, 0, 7]))
    >>> later = YearAnswers(2002, np.array([7, 7]), np.array([0, 7]), np.array([0, 7]))
    >>> classification_lag([birth, after, later])
    {7: Value(value=1.0, reason='')}
    """
    ordered = _ordered(years)
    since: dict[int, int] = {}
    scored: set[int] = set()
    lags: dict[int, Value] = {}
    born = emerging_classes(ordered)
    for year in ordered:
        if year.predicted is None:
            raise UsageError(
                f"the answers of {year.time} have no predicted classes; without them there is no lag to count"
            )
        for label in np.intersect1d(year.known, list(born)).tolist():
            since.setdefault(label, year.time)
        among = np.isin(year.truth, list(since))
        classes, place = np.unique(year.truth[among], return_inverse=True)
        right = _shares(year.truth[among] == year.predicted[among], place, len(classes))
        for label, rate in zip(classes.tolist(), right.tolist(), strict=True):
            scored.add(label)
            if rate >= share and label not in lags:
                lags[label] = Value(float(year.time - since[label]))
    return {label: lags.get(label, Value(None, _why_no_lag(label, since, scored))) for label in born}


@dataclass(frozen=True, slots=True)
class ClassShares:
    """How much of each class was given its class in one year.

    Attributes:
        time: The year.
        known: Classes known to the model that answered.
        shares: Per class with a scored vertex, the share of them that were given it, rejected or not.
    """

    time: int
    known: frozenset[int]
    shares: dict[int, float]


def class_shares(year: YearAnswers) -> ClassShares:
    """The shares of one year.

    >>> class_shares(YearAnswers(2000, np.array([7, 7]), np.array([0, 7]), np.array([0, 7]))).shares
    {7: 0.5}
    """
    if year.predicted is None:
        raise UsageError(f"the answers of {year.time} have no predicted classes; without them there is no share")
    classes, place = np.unique(year.truth, return_inverse=True)
    right = _shares(year.truth == year.predicted, place, len(classes))
    return ClassShares(
        year.time, frozenset(year.known.tolist()), dict(zip(classes.tolist(), right.tolist(), strict=True))
    )


def emergence(years: Sequence[ClassShares], share: float = 0.9) -> dict[int, Value]:
    """Years from when each class is known until its accuracy first reaches `share` of its final one; 0 is at once.

    Of every class that the first year given does not know and a later one does. As in `classification_lag` it is known
    from the first year whose model knows it. Its accuracy in a year is the share of its scored vertices that are given
    it; the final one is that of the last year in which it has scored vertices. Years without any show nothing, but
    count. A class that is not recognised at all at the end has no value: there is nothing to reach.

    >>> first = ClassShares(2000, frozenset({0}), {0: 1.0, 7: 0.0})
    >>> second = ClassShares(2001, frozenset({0, 7}), {7: 0.25})
    >>> third = ClassShares(2003, frozenset({0, 7}), {7: 0.5})
    >>> emergence([first, second, third])
    {7: Value(value=2.0, reason='')}
    """
    ordered = sorted(years, key=lambda year: year.time)
    since: dict[int, int] = {}
    for year in ordered[1:]:
        for label in sorted(year.known - ordered[0].known):
            since.setdefault(label, year.time)
    found: dict[int, Value] = {}
    for label, start in since.items():
        seen = [(year.time, year.shares[label]) for year in ordered if year.time >= start and label in year.shares]
        if not seen:
            found[label] = Value(None, "no scored vertex once it was known")
        elif not seen[-1][1]:
            found[label] = Value(None, "not recognised in the last year it was scored in")
        else:
            reached = next(time for time, rate in seen if rate >= share * seen[-1][1])
            found[label] = Value(float(reached - start))
    return found


def _why_no_lag(label: int, since: dict[int, int], scored: set[int]) -> str:
    if label not in since:
        return "not known by the last year"
    return "not classified correctly by the last year" if label in scored else "no scored vertex once it was known"


def _detected(year: YearAnswers, share: float, auroc: float) -> list[tuple[int, bool, int]]:
    """Each class that is new this year, whether it is detected, and how many known vertices are called new with it."""
    new = ~np.isin(year.truth, year.known)
    classes, place = np.unique(year.truth[new], return_inverse=True)
    if year.rejected is not None:
        found = _shares(year.rejected[new], place, len(classes)) >= share
        alarms = [int(year.rejected[~new].sum())] * len(classes)
    elif year.novelty is not None:
        ascending = np.sort(year.novelty[~new])
        found = _auroc_per_class(year.novelty[new], place, len(classes), ascending) >= auroc
        alarms = [_alarms(year.novelty[new][place == at], ascending, share) for at in range(len(classes))]
    else:
        raise UsageError(f"the answers of {year.time} have neither rejections nor novelty, so nothing can be detected")
    return list(zip(classes.tolist(), found.tolist(), alarms, strict=True))


def _alarms(novelty: FloatArray, known: FloatArray, share: float) -> int:
    """Known vertices, by ascending novelty, that are not below the highest cut that finds `share` of a class."""
    least = max(math.ceil(share * len(novelty) - 1e-9), 1)
    cut = np.sort(novelty)[len(novelty) - least]
    return int(len(known) - np.searchsorted(known, cut, side="left"))


def _shares(hits: BoolArray, place: IntArray, classes: int) -> FloatArray:
    return np.bincount(place, weights=hits, minlength=classes) / np.bincount(place, minlength=classes)


def _auroc_per_class(novelty: FloatArray, place: IntArray, classes: int, ascending: FloatArray) -> FloatArray:
    """AUROC of the vertices of each class against the known ones in ascending order; 0 without a known one."""
    if not len(ascending):
        return np.zeros(classes)
    # Known vertices below count 1 and equal ones 1/2; twice that is whole, so that 0.8 is met exactly where it is met.
    twice = np.searchsorted(ascending, novelty, side="left") + np.searchsorted(ascending, novelty, side="right")
    pairs = np.bincount(place, minlength=classes) * len(ascending)
    return np.bincount(place, weights=twice, minlength=classes) / (2 * pairs)


def _ordered(years: Sequence[YearAnswers]) -> list[YearAnswers]:
    ordered = sorted(years, key=lambda year: year.time)
    for one, other in zip(ordered, ordered[1:], strict=False):
        if one.time == other.time:
            raise UsageError(f"two tables of answers for {one.time}; give one per year, of one method and one seed")
    return ordered
