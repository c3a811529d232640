"""How well novelty ranks new vertices above known ones."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import BoolArray, FloatArray, Value


def auroc(new: BoolArray, novelty: FloatArray) -> Value:
    """Chance that a new vertex has a higher novelty than a known one, ties counting half (Mann and Whitney).

    >>> import numpy as np
    >>> auroc(np.array([True, False, False]), np.array([0.5, 0.5, 0.1])).value
    0.75
    """
    if reason := one_sided(new):
        return Value(None, reason)
    found, called = _cumulated(new, novelty)
    # Known vertices that enter with a cut lie below the new ones found before it, and tie with those that enter too.
    below = np.diff(called - found, prepend=0.0) * (found - np.diff(found, prepend=0.0) / 2)
    return Value(float(below.sum() / (found[-1] * (len(new) - found[-1]))))


def aupr(new: BoolArray, novelty: FloatArray) -> Value:
    """Area under precision and recall with new as positive (average precision); equal scores enter together.

    Sum over cuts, from the highest novelty down, of (recall_n - recall_(n-1)) * precision_n, without interpolation
    (Davis and Goadrich 2006); AUPR-Out of Liang et al. 2018. Chance has `prevalence`.

    >>> import numpy as np
    >>> round(aupr(np.array([True, False, True]), np.array([0.9, 0.8, 0.7])).value, 4)
    0.8333
    """
    return Value(None, reason) if (reason := one_sided(new)) else Value(_average_precision(new, novelty))


def aupr_known(new: BoolArray, novelty: FloatArray) -> Value:
    """`aupr` with known as positive, from the lowest novelty up: AUPR-In of Liang et al. 2018 (ODIN).

    Chance has 1 - `prevalence`.

    >>> import numpy as np
    >>> round(aupr_known(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])).value, 4)
    0.8333
    """
    return Value(None, reason) if (reason := one_sided(new)) else Value(_average_precision(~new, -novelty))


def prevalence(new: BoolArray) -> Value:
    """Share of new vertices among the scored ones: the `aupr` of a novelty that knows nothing.

    >>> import numpy as np
    >>> prevalence(np.array([True, False, False, False])).value
    0.25
    """
    return Value(float(new.mean())) if len(new) else Value(None, "no scored vertex")


def fpr95(new: BoolArray, novelty: FloatArray) -> Value:
    """Share of known vertices called new at the first cut that finds 95 % of the new ones.

    New is positive, as in Hendrycks et al. 2019 (outlier exposure): the false-positive rate at a true-positive rate of
    at least 0.95, cuts taken from the highest novelty down, equal scores together. `fpr95_known` is the other way.

    >>> import numpy as np
    >>> fpr95(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])).value
    0.5
    """
    return Value(None, reason) if (reason := one_sided(new)) else Value(_fpr(new, novelty, 0.95))


def fpr95_known(new: BoolArray, novelty: FloatArray) -> Value:
    """Share of new vertices accepted at the first cut that accepts 95 % of the known ones.

    Known is positive, as in Liang et al. 2018 (ODIN); cuts are taken from the lowest novelty up, equal scores together.

    >>> import numpy as np
    >>> fpr95_known(np.array([True, False, True, True]), np.array([0.9, 0.8, 0.7, 0.1])).value
    0.6666666666666666
    """
    return Value(None, reason) if (reason := one_sided(new)) else Value(_fpr(~new, -novelty, 0.95))


def oscr(new: BoolArray, novelty: FloatArray, correct: BoolArray) -> Value:
    """Area under the correct-classification rate of known vertices against the share of new ones accepted.

    Dhamija et al. 2018: at every cut, known vertices that are accepted and rightly classified, over known ones, against
    new vertices that are accepted, over new ones. Equals the chance that a known vertex is rightly classified and has
    a lower novelty than a new one, ties counting half.

    >>> import numpy as np
    >>> new, correct = np.array([True, False, False]), np.array([False, True, False])
    >>> oscr(new, np.array([0.9, 0.5, 0.1]), correct).value
    0.5
    """
    if reason := one_sided(new):
        return Value(None, reason)
    right = ~new & correct
    if not right.any():
        return Value(0.0)
    among = new | right
    found = auroc(new[among], novelty[among]).value
    assert found is not None
    return Value(found * float(right.sum() / (~new).sum()))


def one_sided(new: BoolArray) -> str:
    """Why new and known cannot be ranked against each other; empty if they can."""
    if not new.any():
        return "no new vertex"
    return "no vertex of a known class" if new.all() else ""


def _average_precision(positive: BoolArray, score: FloatArray) -> float:
    hits, called = _cumulated(positive, score)
    precision, recall = hits / called, hits / positive.sum()
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def _fpr(positive: BoolArray, score: FloatArray, recall: float) -> float:
    hits, called = _cumulated(positive, score)
    at = int(np.argmax(hits >= recall * positive.sum()))
    return float((called[at] - hits[at]) / (~positive).sum())


def _cumulated(positive: BoolArray, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positives found and vertices called positive, at every distinct cut from the highest score down."""
    order = np.argsort(-score)  # in no order among equals: they enter together
    last = np.append(np.diff(score[order]) != 0, True)
    return np.cumsum(positive[order])[last].astype(np.float64), (np.arange(len(positive)) + 1.0)[last]
