from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import UsageError
from lgl_bench.metrics.over_time import OverYears, area_over_time, mean_auroc, mean_over_years, weighted_auroc

NAN = float("nan")
years = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 20)), min_size=1, max_size=12)


def test_a_year_without_a_value_is_left_out_of_the_mean_and_of_the_count():
    assert mean_over_years([0.25, None, 0.75, NAN]) == OverYears(0.5, 2)


def test_no_year_with_a_value_gives_the_reason():
    assert mean_over_years([None, NAN]) == OverYears(None, 0, "no value in any year")
    assert mean_over_years([], "all skipped") == OverYears(None, 0, "all skipped")
    assert weighted_auroc([NAN], [0]) == OverYears(None, 0, "no year with new vertices")
    assert mean_auroc([0.9], [4]) == OverYears(None, 0, "no year with 5 new vertices")
    assert area_over_time([2001], [None]) == OverYears(None, 0, "no value in any year")


def test_a_year_counts_in_the_weighted_auroc_by_its_new_vertices():
    assert weighted_auroc([0.5, 1.0, None, 0.0], [8, 1, 0, 1]) == OverYears(0.5, 3)


def test_years_with_few_new_vertices_stay_out_of_the_mean_auroc():
    assert mean_auroc([0.5, 1.0, 0.75], [5, 4, 6]) == OverYears(0.625, 2)
    assert mean_auroc([0.5, 1.0], [5, 4], fewest=1) == OverYears(0.75, 2)


@given(years)
def test_the_aggregates_equal_their_definitions_over_the_years_that_have_an_auroc(rows):
    aurocs = [auroc if n else None for auroc, n in rows]
    n_new = [n for _, n in rows]
    there = [(auroc, n) for auroc, n in rows if n]
    enough = [auroc for auroc, n in there if n >= 5]
    weighted, plain, mean = weighted_auroc(aurocs, n_new), mean_over_years(aurocs), mean_auroc(aurocs, n_new)
    assert (weighted.years, plain.years, mean.years) == (len(there), len(there), len(enough))
    if there:
        assert weighted.value == pytest.approx(sum(auroc * n for auroc, n in there) / sum(n for _, n in there))
        assert plain.value == pytest.approx(sum(auroc for auroc, _ in there) / len(there))
    if enough:
        assert mean.value == pytest.approx(sum(enough) / len(enough))


def test_columns_of_a_table_are_taken_as_they_are():
    table = pd.DataFrame({"auroc": [0.5, None, 1.0], "n_new": [3, 0, 1]})
    assert weighted_auroc(table["auroc"], table["n_new"]) == OverYears(0.625, 2)


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
    with pytest.raises(UsageError, match="1 AUROCs but 2 numbers of new vertices"):
        weighted_auroc([0.1], [1, 2])
    with pytest.raises(UsageError, match="1 AUROCs but 2 numbers of new vertices"):
        mean_auroc([0.1], [1, 2])
