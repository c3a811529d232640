"""From one value per year to one value: each aggregate says how many years stand behind it.

A year without a value is NaN or None and is left out, never counted as 0. Scores of different years are never pooled:
they come from different models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import FloatArray, IntArray

PerYear: TypeAlias = Sequence[float | None] | FloatArray
Counts: TypeAlias = Sequence[int] | IntArray | FloatArray


class OverYears(NamedTuple):
    """A value over years, how many years it rests on, and the reason if there is none."""

    value: float | None
    years: int
    reason: str = ""


def mean_over_years(values: PerYear, reason: str = "no value in any year") -> OverYears:
    """Plain mean of the years that have a value; `reason` is given if none has.

    >>> mean_over_years([0.5, None, 0.7])
    OverYears(value=0.6, years=2, reason='')
    """
    column = _numbers(values)
    defined = column[~np.isnan(column)]
    return OverYears(float(defined.mean()), len(defined)) if len(defined) else OverYears(None, 0, reason)


def area_over_time(times: Counts, values: PerYear, reason: str = "no value in any year") -> OverYears:
    """Area under the values against the years by the trapezoid rule, divided by the years it spans.

    Over the years with a value: sum (t_(i+1) - t_i) * (v_i + v_(i+1)) / 2, over t_last - t_first. It has the unit of
    the values. A gap between years is bridged by a straight line, so years beside a gap weigh more than in the mean.
    For a single year it is the value of that year.

    >>> area_over_time([2000, 2001, 2004], [1.0, 0.0, 1.0])
    OverYears(value=0.5, years=3, reason='')
    """
    years, column = _numbers(times), _numbers(values)
    _same_length(years, column, "years", "values")
    if len(np.unique(years)) < len(years):
        raise UsageError("area_over_time: a year is given twice; give one value per year")
    order = np.argsort(years)
    order = order[~np.isnan(column[order])]
    years, column = years[order], column[order]
    if len(column) < 2:
        return mean_over_years(column, reason)
    area = float((np.diff(years) * (column[1:] + column[:-1]) / 2).sum())
    return OverYears(area / float(years[-1] - years[0]), len(column))


def _numbers(values: PerYear | Counts) -> FloatArray:
    return np.asarray(values, dtype=np.float64)  # None becomes NaN


def _same_length(one: FloatArray, other: FloatArray, ones: str, others: str) -> None:
    if len(one) != len(other):
        raise UsageError(f"{len(one)} {ones} but {len(other)} {others}; give one of each per year")
