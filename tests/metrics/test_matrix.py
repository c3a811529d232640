from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import UsageError
from lgl_bench.metrics.matrix import backward_transfer, forgetting, forward_transfer

NAN = float("nan")
# Models trained up to 2000, 2001 and 2002 (rows) on the years 2000 to 2003 (columns).
R = np.array(
    [
        [0.90, 0.60, 0.40, 0.30],
        [0.95, 0.80, 0.50, 0.45],
        [0.70, 0.85, 0.90, 0.65],
    ]
)
cells = st.one_of(st.just(NAN), st.floats(0, 1))
matrices = st.integers(1, 6).flatmap(
    lambda m: st.integers(m, 7).flatmap(
        lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=m, max_size=m).map(np.array)
    )
)


def test_forgetting_is_measured_from_the_best_model_since_the_year_was_learned():
    # 2000: best 0.95, end 0.70. 2001: best 0.80, end 0.85.
    assert forgetting(R).value == pytest.approx((0.25 - 0.05) / 2)
    assert forgetting(R).years == 2


def test_backward_transfer_is_measured_from_the_model_that_just_learned_the_year():
    # 2000: 0.70 - 0.90. 2001: 0.85 - 0.80.
    assert backward_transfer(R).value == pytest.approx((-0.20 + 0.05) / 2)
    assert backward_transfer(R).years == 2


def test_forward_transfer_is_what_the_model_before_a_year_has_over_an_untrained_one():
    # 2001: 0.60 - 0.25. 2002: 0.50 - 0.20. 2003, which no model learned: 0.65 - 0.15.
    found = forward_transfer(R, [0.99, 0.25, 0.20, 0.15])
    assert found.value == pytest.approx((0.35 + 0.30 + 0.50) / 3)
    assert found.years == 3
    assert forward_transfer(R, 0.5).value == pytest.approx((0.10 + 0.00 + 0.15) / 3)


def test_a_square_matrix_has_one_year_less_to_look_forward_to():
    assert forward_transfer(R[:, :3], 0.5).value == pytest.approx((0.10 + 0.00) / 2)
    assert forgetting(R[:, :3]) == forgetting(R)


def test_a_model_from_before_a_year_was_learned_cannot_make_it_forgotten():
    early = R.copy()
    early[0, 1] = 1.0
    assert forgetting(early) == forgetting(R)


def test_undefined_cells_leave_their_year_out_and_the_count_says_so():
    holes = R.copy()
    holes[2, 0] = NAN
    assert forgetting(holes).value == pytest.approx(-0.05)
    assert backward_transfer(holes).value == pytest.approx(0.05)
    assert forgetting(holes).years == backward_transfer(holes).years == 1
    holes[0, 1] = NAN
    assert forward_transfer(holes, 0.5).years == 2
    assert forward_transfer(R, [NAN, NAN, 0.20, NAN]).value == pytest.approx(0.30)


def test_a_hole_where_the_year_was_learned_leaves_forgetting_the_models_after_it():
    holes = R.copy()
    holes[0, 0] = NAN
    assert forgetting(holes).value == pytest.approx((0.25 - 0.05) / 2)
    assert backward_transfer(holes).years == 1


@given(matrices, st.floats(0, 1))
def test_the_three_equal_their_definitions_written_as_loops(matrix, baseline):
    models, years = matrix.shape
    last = models - 1
    lost, moved = [], []
    for j in range(last):
        since = [matrix[i, j] for i in range(j, last) if not np.isnan(matrix[i, j])]
        if since and not np.isnan(matrix[last, j]):
            lost.append(max(since) - matrix[last, j])
        if not np.isnan(matrix[last, j]) and not np.isnan(matrix[j, j]):
            moved.append(matrix[last, j] - matrix[j, j])
    ahead = [matrix[j - 1, j] - baseline for j in range(1, years) if j <= models and not np.isnan(matrix[j - 1, j])]
    found = (forgetting(matrix), backward_transfer(matrix), forward_transfer(matrix, baseline))
    for got, expected in zip(found, (lost, moved, ahead), strict=True):
        assert got.years == len(expected)
        assert got.value == (pytest.approx(np.mean(expected)) if expected else None)
        assert bool(got.reason) == (not expected)


def test_one_model_alone_can_neither_forget_nor_transfer_back_but_it_can_look_forward():
    assert forgetting(R[:1]) == backward_transfer(R[:1]) == (None, 0, "one model only: nothing came after it")
    assert forward_transfer(R[:1], 0.5).value == pytest.approx(0.1)
    assert forward_transfer(R[:1, :1], 0.5) == (None, 0, "no year with a value before it is learned")


def test_a_metric_without_values_below_the_diagonal_gives_a_reason():
    above = np.where(np.triu(np.ones_like(R), k=1) > 0, R, NAN)
    assert forgetting(above) == (None, 0, "no year with a value when it was learned and at the end")
    assert backward_transfer(above).value is None
    assert forward_transfer(above, 0.5) == forward_transfer(R, 0.5)


def test_cells_may_be_none_as_they_come_from_a_table():
    assert backward_transfer(np.array([[0.5, None], [0.75, None]], dtype=object)).value == 0.25


def test_the_matrix_is_left_as_it_is():
    before = R.copy()
    forgetting(R), backward_transfer(R), forward_transfer(R, 0.5)
    assert (before == R).all()


@pytest.mark.parametrize("shape", [(3,), (0, 0), (3, 2), (2, 2, 2)])
def test_what_is_no_matrix_of_models_by_years_is_refused_with_its_shape(shape):
    with pytest.raises(UsageError, match="a matrix of shape"):
        forgetting(np.zeros(shape))


def test_a_baseline_of_another_length_is_refused():
    with pytest.raises(UsageError, match="for 4 years"):
        forward_transfer(R, [0.5, 0.5, 0.5])
