"""Forgetting and transfer, from the matrix of every model on every year.

R[i, j] is a metric of the model trained up to year t_i, evaluated on the vertices born in year t_j; higher is better,
and NaN says undefined or not evaluated. Row i and column i mean the same year: a year whose model is missing is a row
of NaN, so that the models after it stay on their own years. The first year is t0, or the first one learned if labels
arrive late. There are at least as many columns as rows: the last year is scored and no model is trained on it.

`year_matrix.py` counts R per class, and says how models that know different classes are compared.

How the definitions, made for tasks with a test set each, are read here:

- Above the diagonal a model has not learned from the year it answers for. Its first such year is the one after its
  training: R[i, i + 1], which is what the protocol grades if labels arrive at once.
- On and below the diagonal the year was learned from; there is no test set apart. "Just learned" is R[j, j], "later" is
  R[l, j] with l > j. Both have seen the year and know all its classes, so they grade the same vertices and their
  difference is what later years changed. Measured from R[j - 1, j] it would mostly be the gain of learning the year.
- A model counts as trained up to the last year whose labels it learned from: if labels arrive late, or a year has
  none, that is before the last year of its graph.
- A year in which one side of a difference is undefined is left out; the number of years left is returned. AUROC and the
  like have no value on and below the diagonal, where no class is new: they have forward transfer only.
"""

from __future__ import annotations

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import FloatArray
from lgl_bench.metrics.over_time import OverYears, PerYear, mean_over_years


def forgetting(matrix: FloatArray) -> OverYears:
    """How much the last model lost against the best model since each year was learned; negative is a gain.

    Chaudhry et al. 2018: mean over the years j before the last model's, T, of max over l in j, ..., T - 1 of R[l, j],
    minus R[T, j]. Models before j are left out of the maximum, which the paper lets run from the first: what was not
    learned yet cannot be forgotten, and they know fewer classes.

    >>> nan = float("nan")
    >>> forgetting(np.array([[0.9, nan, nan], [0.8, 0.7, nan], [0.6, 0.8, 0.9]])).value.__round__(4)  # (0.3 - 0.1) / 2
    0.1
    """
    values = _checked(matrix)
    last = len(values) - 1
    learned = np.where(np.tri(last, dtype=np.bool_), values[:last, :last], -np.inf)
    best = np.fmax.reduce(learned, axis=0, initial=-np.inf)
    best[np.isneginf(best)] = np.nan
    return mean_over_years(best - values[last, :last], _reason(last))


def backward_transfer(matrix: FloatArray) -> OverYears:
    """How much learning later years changed earlier ones; negative is forgetting.

    Lopez-Paz and Ranzato 2017 (GEM): mean over the years j before the last model's, T, of R[T, j] - R[j, j].

    >>> nan = float("nan")
    >>> backward_transfer(np.array([[0.9, nan, nan], [0.8, 0.7, nan], [0.6, 0.8, 0.9]])).value.__round__(4)
    -0.1
    """
    values = _checked(matrix)
    last = len(values) - 1
    return mean_over_years(values[last, :last] - np.diagonal(values)[:last], _reason(last))


def forward_transfer(matrix: FloatArray, baseline: float | PerYear) -> OverYears:
    """How much better a year is answered before it is learned than by a model that learned nothing.

    Lopez-Paz and Ranzato 2017 (GEM): mean over the years j from the second on of R[j - 1, j] - b_j. The year after the
    last model's counts too.

    Args:
        matrix: R.
        baseline: b, the metric of an untrained model on each column's year (the first is not used), or one number for
            all of them: 0.5 for AUROC.

    >>> nan = float("nan")
    >>> forward_transfer(np.array([[nan, 0.7, nan], [nan, nan, 0.9]]), 0.5).value.__round__(4)
    0.3
    """
    values = _checked(matrix)
    before = np.asarray(baseline, dtype=np.float64)
    if before.ndim and before.shape != values.shape[1:]:
        raise UsageError(f"baseline of shape {before.shape} for {values.shape[1]} years; give one per year, or one")
    ahead = np.diagonal(values, offset=1)
    against = np.broadcast_to(before, values.shape[1:])[1 : len(ahead) + 1]
    return mean_over_years(ahead - against, "no year with a value before it is learned")


def _checked(matrix: FloatArray) -> FloatArray:
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or not 0 < len(values) <= values.shape[1]:
        raise UsageError(
            f"a matrix of shape {values.shape}: give a row for each model and a column for each year, both from t0 on, "
            "and at least as many years as models"
        )
    return values


def _reason(last: int) -> str:
    return (
        "no year with a value when it was learned and at the end" if last else "one model only: nothing came after it"
    )
