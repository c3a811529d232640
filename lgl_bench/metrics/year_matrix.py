"""The matrix of every model on every year, counted per class, so that models are compared on what both know.

Classes become known on the way. R[i, j] is the share of the vertices of year j that model i gives their class, over the
classes that it knows. A difference R[l, j] - R[T, j] is over the classes that both models know: neither is blamed
for what it was never taught.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lgl_bench.core.types import BoolArray, FloatArray, IntArray, flag_arrays


@dataclass(frozen=True, slots=True)
class YearMatrix:
    """Row i and column i mean the same year; a year whose model is missing is a row of NaN.

    Attributes:
        years: Of the columns; the first of them are those of the rows.
        count: (years, classes) labelled vertices.
        right: (models, years, classes) of them, those that a model gives their class; NaN if it was not asked.
        known: (models, classes) what each model knows.
    """

    years: tuple[int, ...]
    count: FloatArray
    right: FloatArray
    known: BoolArray

    def __post_init__(self) -> None:
        flag_arrays(self)


def class_counts(year: IntArray, label: IntArray, right: BoolArray, years: int, classes: int) -> FloatArray:
    """(years, classes) vertices that were given their class, from the year and class of each, by number."""
    flat = np.bincount(year * classes + label, weights=right, minlength=years * classes)
    return flat.reshape(years, classes).astype(np.float64)


def accuracies(matrix: YearMatrix) -> FloatArray:
    """R: of every model on every year, over the classes it knows; NaN if there is no vertex of them.

    >>> one = YearMatrix((2000,), np.array([[4.0, 4.0]]), np.array([[[3.0, 0.0]]]), np.array([[True, False]]))
    >>> accuracies(one).tolist()
    [[0.75]]
    """
    return _shares(matrix.right, matrix.count, matrix.known[:, None, :])


def against_last(matrix: YearMatrix) -> FloatArray:
    """R[l, j] - R[T, j] over the classes that both model l and the last one, T, know; 0 in the last row.

    `forgetting` and `backward_transfer` of `matrix.py` are functions of these differences.
    """
    both = (matrix.known & matrix.known[-1])[:, None, :]
    last = np.broadcast_to(matrix.right[-1], matrix.right.shape)
    return _shares(matrix.right, matrix.count, both) - _shares(last, matrix.count, both)


def guessing(matrix: YearMatrix) -> FloatArray:
    """Per column, the accuracy of guessing one of the classes that the model of the year before knows."""
    found = np.full(len(matrix.years), np.nan)
    classes = matrix.known.sum(axis=1)
    for row, number in enumerate(classes[: len(found) - 1].tolist()):
        found[row + 1] = 1.0 / max(number, 1)
    return found


def _shares(right: FloatArray, count: FloatArray, among: BoolArray) -> FloatArray:
    total = np.where(among, count, 0.0).sum(axis=2)
    good = np.where(among, right, 0.0).sum(axis=2)
    found: FloatArray = np.where(total > 0, good / np.where(total > 0, total, 1.0), np.nan)
    return found
