"""Student's t: intervals over seeds, and differences of means that know nothing but mean, deviation and count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.special

from lgl_bench.core.types import FloatArray

MIN_SEEDS = 3
LEVEL = 0.95


class Difference(NamedTuple):
    """A difference with its interval at 95 % and its two-sided p; NaN if there are too few seeds.

    Every field is an array if many differences are taken at once.
    """

    value: Any
    lo: Any
    hi: Any
    p: Any


def quantile(df: npt.ArrayLike, tests: npt.ArrayLike = 1.0) -> FloatArray:
    """The 97.5 % point of Student's t; of several tests that share the 5 %, the point 1 - 2.5 % / tests.

    >>> round(float(quantile(2)), 3), round(float(quantile(2, 5)), 3)
    (4.303, 9.925)
    """
    beyond = (1 - LEVEL) / 2 / np.asarray(tests, dtype=np.float64)
    return np.asarray(scipy.special.stdtrit(np.asarray(df, dtype=np.float64), 1 - beyond), dtype=np.float64)


def two_sided(t: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Chance of |T| >= |t| under Student's t."""
    tail = scipy.special.stdtr(np.asarray(df, dtype=np.float64), -np.abs(np.asarray(t, dtype=np.float64)))
    return np.asarray(2 * tail, dtype=np.float64)


def interval(
    mean: FloatArray, std: FloatArray, seeds: npt.ArrayLike, shared: npt.ArrayLike = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Student's interval mean -+ t(n - 1) * std * sqrt(1 / n + shared), from three seeds on; NaN below.

    `shared` is n_test / n_train if seeds split one graph anew, and 0 otherwise (`resampled.py`).

    >>> lo, hi = interval(np.array([2.0]), np.array([1.0]), np.array([3]))
    >>> round(float(hi[0] - 2), 3)  # 4.303 / sqrt 3
    2.484
    """
    n = np.asarray(seeds, dtype=np.float64)
    enough = n >= MIN_SEEDS
    half = quantile(np.where(enough, n - 1, 1)) * std * np.sqrt(1 / np.maximum(n, 1) + np.asarray(shared))
    half = np.where(enough, half, np.nan)
    return mean - half, mean + half


def welch(
    mean_a: FloatArray,
    std_a: FloatArray,
    seeds_a: npt.ArrayLike,
    mean_b: FloatArray,
    std_b: FloatArray,
    seeds_b: npt.ArrayLike,
    shared: npt.ArrayLike = 0.0,
    tests: npt.ArrayLike = 1.0,
) -> Difference:
    """The difference b - a by Welch's t test, from three seeds on either side.

    Variances u = s_a^2 / n_a and v = s_b^2 / n_b add; the degrees of freedom are
    (u + v)^2 / (u^2 / (n_a - 1) + v^2 / (n_b - 1)). Seeds are not paired, and the vertices are taken as fixed. If
    seeds split one graph anew, `shared` is n_test / n_train and stands beside 1 / n, as in `evidence.py`.
    """
    a, b = np.asarray(seeds_a, dtype=np.float64), np.asarray(seeds_b, dtype=np.float64)
    enough = (a >= MIN_SEEDS) & (b >= MIN_SEEDS)
    shared = np.asarray(shared, dtype=np.float64)
    u, v = std_a**2 * (1 / np.maximum(a, 1) + shared), std_b**2 * (1 / np.maximum(b, 1) + shared)
    below = u**2 / np.maximum(a - 1, 1) + v**2 / np.maximum(b - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        df = np.where(below > 0, (u + v) ** 2 / below, 1.0)
    return from_error(mean_b - mean_a, np.where(enough, np.sqrt(u + v), np.nan), df, tests)


def from_error(value: npt.ArrayLike, error: npt.ArrayLike, df: npt.ArrayLike, tests: npt.ArrayLike = 1.0) -> Difference:
    """The interval and p of a difference with its standard error; of `tests` tests that share the level, the interval.

    Without any error a difference of 0 has p = 1, any other p = 0.
    """
    value, error = np.asarray(value, dtype=np.float64), np.asarray(error, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(error > 0, value / error, np.where(value == 0, 0.0, np.inf))
    half = np.where(error > 0, quantile(df, tests) * error, error)
    p = np.where(np.isnan(error), np.nan, two_sided(t, df))
    return Difference(value, value - half, value + half, p)
