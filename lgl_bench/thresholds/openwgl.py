"""OpenWGL (Wu et al. 2020): max p < (mean max p of all vertices + that of the tenth with the largest entropy) / 2."""

from __future__ import annotations

from typing import Literal

import numpy as np

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import BoolArray, FloatArray, Scores
from lgl_bench.thresholds import Threshold, thresholds


def openwgl_delta(probabilities: FloatArray, share: float = 0.1) -> float:
    """The threshold, from the class probabilities of some vertices; at least one of them is most uncertain.

    >>> openwgl_delta(np.array([[0.9, 0.1], [0.6, 0.4], [1.0, 0.0]]), share=0.34).__round__(4)
    0.7167
    """
    import scipy.stats  # a second to import, and few runs need it

    largest = probabilities.max(axis=1)
    # One-vs-rest sigmoids do not sum to 1; entropy takes the distribution they are proportional to.
    uncertainty = scipy.stats.entropy(probabilities + 1e-12, axis=1)
    count = max(1, int(share * len(largest)))
    uncertain = np.argsort(-uncertainty, kind="stable")[:count]
    return float((largest.mean() + largest[uncertain].mean()) / 2)


@thresholds.register("openwgl")
class OpenWgl(Threshold):
    """Rejects what is less probable than the mean of all vertices and of the most uncertain tenth.

    Args:
        fit: "train" takes the means over training vertices, as the published code does; "test" over the unlabelled
            test vertices, which makes it transductive.
    """

    def __init__(self, fit: Literal["train", "test"] = "train") -> None:
        if fit not in ("train", "test"):
            raise UsageError(f"fit = '{fit}': it is 'train' or 'test'")
        self.fit_on = fit

    @property
    def track(self) -> str:
        """Transductive if test vertices take part."""
        return "transductive" if self.fit_on == "test" else "inductive"

    def fit(self, train: Scores, calibration: Scores, seed: int) -> None:
        """Learns the cut from the training vertices."""
        self.delta_ = openwgl_delta(train.probabilities[train.scored])

    def reject(self, test: Scores) -> BoolArray:
        """Below the cut."""
        if not hasattr(self, "delta_"):
            raise PluginError("the openwgl threshold has not been fitted; call fit first")
        probabilities = test.probabilities[test.scored]
        delta = openwgl_delta(probabilities) if self.fit_on == "test" else self.delta_
        rejected: BoolArray = probabilities.max(axis=1) < delta
        return rejected
