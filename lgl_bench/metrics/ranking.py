"""How well novelty ranks new vertices above known ones."""

from __future__ import annotations

import numpy as np
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


def aupr(new: BoolArray, novelty: FloatArray) -> Value:
    """Area under precision and recall with new as positive (average precision); equal scores enter together.

    >>> import numpy as np
    >>> round(aupr(np.array([True, False, True]), np.array([0.9, 0.8, 0.7])).value, 4)
    0.8333
    """
    if not new.any() or new.all():
        return Value(None, "no new vertex" if not new.any() else "no vertex of a known class")
    hits, called = _cumulated(new, novelty)
    precision, recall = hits / called, hits / new.sum()
    return Value(float(np.sum(np.diff(recall, prepend=0.0) * precision)))


def fpr95(new: BoolArray, novelty: FloatArray) -> Value:
    """Share of known vertices called new at the first cut that finds 95 % of the new ones.

    >>> import numpy as np
    >>> fpr95(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])).value
    0.5
    """
    if not new.any() or new.all():
        return Value(None, "no new vertex" if not new.any() else "no vertex of a known class")
    hits, called = _cumulated(new, novelty)
    at = int(np.argmax(hits >= 0.95 * new.sum()))
    return Value(float((called[at] - hits[at]) / (~new).sum()))


def oscr(new: BoolArray, novelty: FloatArray, correct: BoolArray) -> Value:
    """Area under the correct-classification rate of known vertices against the share of new ones accepted.

    Dhamija et al. 2018: at every cut, known vertices that are accepted and rightly classified, over known ones, against
    new vertices that are accepted, over new ones. Equals the chance that a known vertex is rightly classified and has
    a lower novelty than a new one, ties counting half.
    """
    if not new.any() or new.all():
        return Value(None, "no new vertex" if not new.any() else "no vertex of a known class")
    right = ~new & correct
    if not right.any():
        return Value(0.0)
    among = new | right
    found = auroc(new[among], novelty[among]).value
    assert found is not None
    return Value(found * float(right.sum() / (~new).sum()))


def _cumulated(new: BoolArray, novelty: FloatArray) -> tuple[FloatArray, FloatArray]:
    """New vertices found and vertices called new, at every distinct cut from the highest down."""
    order = np.argsort(-novelty, kind="stable")
    last = np.append(np.diff(novelty[order]) != 0, True)
    return np.cumsum(new[order])[last].astype(np.float64), (np.arange(len(new)) + 1.0)[last]
