"""The best cut of each year, chosen with the true labels: an upper bound that is never ranked.

It bounds what any cut of the novelty could reach year by year, in Matthews' correlation of that year. What ranks is the
correlation of the counts of all years together, which another choice of cuts may raise a little further.
"""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.matthews import matthews
from lgl_bench.core.types import BoolArray, FloatArray, Scores
from lgl_bench.thresholds import Threshold, thresholds


def best_cut(novelty: FloatArray, new: BoolArray) -> float:
    """The cut with the largest Matthews' correlation of new and rejected; the highest of equals.

    Without new vertices nobody is rejected, without known ones everybody; nobody too if no cut beats chance.

    >>> best_cut(np.array([0.1, 0.2, 0.6, 0.9]), np.array([False, False, True, True]))
    0.2
    """
    if new.all():
        return float(np.nextafter(novelty.min(initial=0.0), -np.inf))
    order = np.argsort(-novelty, kind="stable")
    ranked, hits = novelty[order], np.cumsum(new[order])
    wrong = np.arange(1, len(novelty) + 1) - hits
    found = matthews(hits, int((~new).sum()) - wrong, wrong, int(new.sum()) - hits)
    # Equal scores fall on the same side of any cut: only the last of a run can be one.
    usable = np.append(ranked[1:] != ranked[:-1], True)
    found = np.where(usable, found, -1.0)
    at = int(np.argmax(found))
    # To reject everybody is worth 0, as to reject nobody is.
    return float(ranked[at + 1]) if found[at] > 0 else float(ranked[0])


@thresholds.register("oracle")
class Oracle(Threshold):
    """The best cut of each year, told the truth with `reveal` before it decides; never ranked."""

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
