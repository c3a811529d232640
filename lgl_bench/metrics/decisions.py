"""How good the decision between known and new is.

What sets new against known (macro F1, Matthews' correlation) is undefined if only one kind is there, not 0: with
zeros a perfect decision would lose points in every year without new vertices, and rejecting nobody would gain on it.
Counts of decisions may be added up over years, because decisions are final; `matthews` grades the sums.
"""

from __future__ import annotations

import numpy as np

from lgl_bench.core.matthews import matthews
from lgl_bench.core.types import BoolArray, IntArray, Value
from lgl_bench.metrics.confusion import codes, f1_per_class
from lgl_bench.metrics.ranking import one_sided


def micro_f1(new: BoolArray, rejected: BoolArray) -> Value:
    """Of two classes it equals plain accuracy: the share of right decisions.

    >>> micro_f1(np.array([True, True, False, False]), np.array([True, False, False, False])).value
    0.75
    """
    if not len(new):
        return Value(None, "no scored vertex")
    return Value(float((new == rejected).mean()))


def macro_f1(new: BoolArray, rejected: BoolArray) -> Value:
    """Mean of the F1 of known and of new; undefined if one kind is not there.

    >>> new = np.array([True, True, False, False])
    >>> round(macro_f1(new, np.array([True, False, False, False])).value, 4)
    0.7333
    """
    if reason := _undefined(new):
        return Value(None, reason)
    return Value((_f1(new, rejected) + _f1(~new, ~rejected)) / 2)


def mcc(new: BoolArray, rejected: BoolArray) -> Value:
    """Matthews' correlation of truth and decision; 0 if all are called the same, undefined if all are of one kind.

    >>> new = np.array([True, True, False, False])
    >>> round(mcc(new, np.array([True, False, False, False])).value, 4)
    0.5774
    """
    if reason := _undefined(new):
        return Value(None, reason)
    cells = (new & rejected, ~new & ~rejected, ~new & rejected, new & ~rejected)
    return Value(float(matthews(*(cell.sum() for cell in cells))))


def open_f1(truth: IntArray, predicted: IntArray, known: IntArray, rejected: BoolArray) -> Value:
    """Open-set macro F1: the mean F1 of the known classes and of one class "new", over all scored vertices.

    As in Shu et al. 2017 (DOC). The truth of a vertex is its class if that is known, else "new"; the answer is "new"
    if the vertex is rejected, else the predicted class. A class takes part if it occurs in truth or answer, "new" as
    any other, which is scikit-learn's default: one that is called but not there counts 0, one that is neither there nor
    called has no F1 and is left out. So a year without new vertices in which nobody is rejected has the macro F1 of its
    known classes. A prediction outside `known` that is not rejected is a miss and adds no class.

    >>> truth, predicted = np.array([0, 0, 1, 9]), np.array([0, 1, 1, 1])
    >>> rejected = np.array([False, False, False, True])
    >>> round(open_f1(truth, predicted, np.array([0, 1]), rejected).value, 4)  # (2/3 + 2/3 + 1) / 3
    0.7778
    """
    if not len(truth):
        return Value(None, "no scored vertex")
    classes = np.unique(known)
    new = len(classes)
    called = codes(predicted, classes)
    called[called == new] = new + 1  # to name an unknown class is not to reject
    called[rejected] = new
    return Value(float(np.nanmean(f1_per_class(codes(truth, classes), called, new + 1))))


def rejected_share(rejected: BoolArray) -> Value:
    """Share of the scored vertices that are called new.

    >>> rejected_share(np.array([True, False, False, False])).value
    0.25
    """
    if not len(rejected):
        return Value(None, "no scored vertex")
    return Value(float(rejected.mean()))


def _undefined(new: BoolArray) -> str:
    return one_sided(new) if len(new) else "no scored vertex"


def _f1(truth: BoolArray, called: BoolArray) -> float:
    hits = int((truth & called).sum())
    total = int(truth.sum() + called.sum())
    return 2 * hits / total if total else 0.0
