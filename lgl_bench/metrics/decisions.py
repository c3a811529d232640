"""How good the decision between known and new is."""

from __future__ import annotations

import math

from lgl_bench.core.types import BoolArray, Value


def micro_f1(new: BoolArray, rejected: BoolArray) -> Value:
    """Of two classes it equals plain accuracy: the share of right decisions."""
    if not len(new):
        return Value(None, "no scored vertex")
    return Value(float((new == rejected).mean()))


def macro_f1(new: BoolArray, rejected: BoolArray) -> Value:
    """Mean of the F1 of known and of new; a side that is neither there nor called counts 0.

    >>> import numpy as np
    >>> new = np.array([True, True, False, False])
    >>> round(macro_f1(new, np.array([True, False, False, False])).value, 4)
    0.7333
    """
    if not len(new):
        return Value(None, "no scored vertex")
    return Value((_f1(new, rejected) + _f1(~new, ~rejected)) / 2)


def mcc(new: BoolArray, rejected: BoolArray) -> Value:
    """Matthews correlation of truth and decision; 0 where one of them does not vary."""
    if not len(new):
        return Value(None, "no scored vertex")
    tp, tn = int((new & rejected).sum()), int((~new & ~rejected).sum())
    fp, fn = int((~new & rejected).sum()), int((new & ~rejected).sum())
    below = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return Value((tp * tn - fp * fn) / below if below else 0.0)


def _f1(truth: BoolArray, called: BoolArray) -> float:
    hits = int((truth & called).sum())
    total = int(truth.sum() + called.sum())
    return 2 * hits / total if total else 0.0
