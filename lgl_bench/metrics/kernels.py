"""Metrics of one task under vertex weights: many draws of vertices at once.

In a draw every scored vertex has a weight, the number of times it was drawn. A kernel is made once from the answers of
all seeds; it takes weights as a matrix (vertices, draws) and returns values (draws, seeds). With weights of 1 each
equals the metric of that name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from lgl_bench.core.types import BoolArray, FloatArray

Kernel: TypeAlias = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class SeedAnswers:
    """What one method answered in one task with every seed: (seeds, n) each; `rejected` if it has a threshold."""

    novelty: FloatArray
    correct: BoolArray
    rejected: BoolArray | None = None

    @property
    def decided(self) -> BoolArray:
        """Which vertices each seed calls new, of a method with a threshold."""
        if self.rejected is None:
            raise ValueError("a decision is graded, and the method has no threshold")
        return self.rejected


def auroc(new: BoolArray, novelty: FloatArray) -> Kernel:
    """Weighted chance that a new vertex has a higher novelty than a known one, ties counting half.

    Known vertices are sorted once per seed. The weight of those below a new vertex is a cumulative sum, so a draw
    needs no sorting.

    Args:
        new: (n,), with both kinds present.
        novelty: (seeds, n).
    """
    is_new, is_known = np.flatnonzero(new), np.flatnonzero(~new)
    sorted_seeds = []
    for scores in novelty:
        order = is_known[np.argsort(scores[is_known], kind="stable")]
        first = np.searchsorted(scores[order], scores[is_new], side="left")
        last = np.searchsorted(scores[order], scores[is_new], side="right")
        sorted_seeds.append((order, first, last))

    def under(weights: FloatArray) -> FloatArray:
        of_new = weights[is_new]
        total = of_new.sum(axis=0) * weights[is_known].sum(axis=0)
        found = np.empty((weights.shape[1], len(sorted_seeds)))
        below = np.zeros((len(is_known) + 1, weights.shape[1]))
        for seed, (order, first, last) in enumerate(sorted_seeds):
            np.cumsum(weights[order], axis=0, out=below[1:])
            above = np.einsum("nd,nd->d", of_new, below[first])
            ties = first != last
            if ties.any():
                above += np.einsum("nd,nd->d", of_new[ties], below[last[ties]] - below[first[ties]]) / 2
            found[:, seed] = above / total
        return found

    return under


def accuracy(new: BoolArray, correct: BoolArray) -> Kernel:
    """Weighted share of right predictions among known vertices; `correct` is (seeds, n)."""
    hits, known = (correct & ~new).astype(np.float64), (~new).astype(np.float64)
    return lambda weights: (hits @ weights / (known @ weights)).T


def counts(new: BoolArray, rejected: BoolArray) -> Kernel:
    """Weighted counts (4, draws, seeds): new and rejected, known and accepted, known and rejected, new and accepted.

    They may be added up over tasks before a pooled metric grades them; `rejected` is (seeds, n).
    """
    cells = (rejected & new, ~rejected & ~new, rejected & ~new, ~rejected & new)
    parts = np.stack([cell.astype(np.float64) for cell in cells])
    return lambda weights: (parts @ weights).swapaxes(1, 2)


def micro_f1(new: BoolArray, rejected: BoolArray) -> Kernel:
    """Weighted share of right decisions; `rejected` is (seeds, n)."""

    def score(tp: FloatArray, tn: FloatArray, fp: FloatArray, fn: FloatArray) -> FloatArray:
        return (tp + tn) / (tp + tn + fp + fn)

    return _of_counts(new, rejected, score)


def macro_f1(new: BoolArray, rejected: BoolArray) -> Kernel:
    """Mean of the F1 of new and of known, both of which are there."""

    def score(tp: FloatArray, tn: FloatArray, fp: FloatArray, fn: FloatArray) -> FloatArray:
        return tp / (2 * tp + fp + fn) + tn / (2 * tn + fp + fn)

    return _of_counts(new, rejected, score)


def _of_counts(new: BoolArray, rejected: BoolArray, score: Callable[..., FloatArray]) -> Kernel:
    counted = counts(new, rejected)
    return lambda weights: score(*counted(weights))
