"""The best cut there is, chosen with the truth in hand: an upper bound that is never ranked."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import BoolArray, FloatArray, Scores
from lgl_bench.thresholds import Threshold, thresholds


def best_cut(novelty: FloatArray, new: BoolArray) -> float:
    """The cut with the largest macro F1 of known against new; the highest of equals.

    >>> best_cut(np.array([0.1, 0.2, 0.6, 0.9]), np.array([False, False, True, True]))
    0.2
    """
    order = np.argsort(-novelty, kind="stable")
    ranked, hits = novelty[order], np.cumsum(new[order])
    called = np.arange(1, len(novelty) + 1)
    total_new, total_known = int(new.sum()), int((~new).sum())
    missed, wrong = total_new - hits, called - hits
    f1_new = 2 * hits / np.maximum(2 * hits + wrong + missed, 1)
    right = total_known - wrong
    f1_known = 2 * right / np.maximum(2 * right + wrong + missed, 1)
    # Equal scores fall on the same side of any cut: only the last of a run can be one.
    usable = np.append(ranked[1:] != ranked[:-1], True)
    macro = np.where(usable, (f1_new + f1_known) / 2, -1.0)
    nobody = total_known / max(2 * total_known + total_new, 1)
    at = int(np.argmax(macro))
    if macro[at] <= nobody:
        return float(ranked[0])
    return float(ranked[at + 1]) if at + 1 < len(ranked) else float(np.nextafter(ranked[-1], -np.inf))


@thresholds.register("oracle")
class Oracle(Threshold):
    """Told the truth with `reveal` before it decides."""

    ranked = False

    def reveal(self, new: BoolArray) -> None:
        """Which of the scored vertices are new."""
        self.new_ = new

    def reject(self, test: Scores) -> BoolArray:
        """Above the best cut."""
        if not hasattr(self, "new_"):
            raise PluginError("the oracle has not been told the truth; call reveal first")
        novelty = test.novelty[test.scored]
        return novelty > best_cut(novelty, self.new_)
