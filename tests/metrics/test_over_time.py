from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import UsageError
from lgl_bench.metrics.over_time import OverYears, area_over_time, mean_over_years

NAN = float("nan")


def test_a_year_without_a_value_is_left_out_of_the_mean_and_of_the_count():
    assert mean_over_years([0.25, None, 0.75, NAN]) == OverYears(0.5, 2)


def test_no_year_with_a_value_gives_the_reason():
    assert mean_over_years([None, NAN]) == OverYears(None, 0, "no value in any year")
    assert mean_over_years([], "all skipped") == OverYears(None, 0, "all skipped")
    assert area_over_time([2001], [None]) == OverYears(None, 0, "no value in any year")


def test_the_area_over_time_is_that_of_the_trapezoids_over_the_span():
    # (1 + 0.5) / 2 over one year, (0.5 + 0) / 2 over three: (0.75 + 0.75) / 4.
    assert area_over_time([2000, 2001, 2004], [1.0, 0.5, 0.0]) == OverYears(0.375, 3)


def test_the_area_bridges_a_year_without_a_value_and_spans_the_years_that_have_one():
    found = area_over_time([1999, 2000, 2001, 2002, 2003], [None, 1.0, NAN, 0.0, None])
    assert found == OverYears(0.5, 2)


def test_the_area_of_one_year_is_its_value_and_of_a_constant_the_constant():
    assert area_over_time([2000, 2001], [None, 0.7]) == OverYears(0.7, 1)
    assert area_over_time([1990, 1997, 1998], [0.25, 0.25, 0.25]) == OverYears(0.25, 3)


def test_the_order_of_the_years_makes_no_difference_to_the_area():
    assert area_over_time([2004, 2000, 2001], [0.0, 1.0, 0.5]) == OverYears(0.375, 3)
    assert area_over_time([2009, 2004, 2000, 2001], [None, 0.0, 1.0, 0.5]) == OverYears(0.375, 3)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10), st.integers(1, 5))
def test_over_evenly_spaced_years_the_area_is_the_mean_with_half_weight_at_both_ends(values, step):
    times = np.arange(len(values)) * step + 1990
    expected = (sum(values) - (values[0] + values[-1]) / 2) / (len(values) - 1)
    assert area_over_time(times, values).value == pytest.approx(expected)


def test_a_year_given_twice_and_columns_of_different_length_are_refused():
    with pytest.raises(UsageError, match="twice"):
        area_over_time([2000, 2000], [0.1, 0.2])
    with pytest.raises(UsageError, match="2 years but 1 values"):
        area_over_time([2000, 2001], [0.1])
