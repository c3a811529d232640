"""From what models answer for every year to the matrix of their chain, worked by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.grading.chains import year_matrices
from lgl_bench.metrics.matrix import backward_transfer, forgetting, forward_transfer
from lgl_bench.metrics.year_matrix import accuracies, against_last, guessing
from lgl_bench.runs.records import FitRecord

# Four vertices a year, two of class 0 and two of class 1; class 2 is born in 2002 with two of its own.
BORN = np.repeat([1999, 2000, 2001, 2002, 2003], [4, 4, 4, 6, 4])
LABELS = np.array([0, 0, 1, 1] * 3 + [0, 0, 1, 1, 2, 2] + [0, 0, 1, 2])
STREAM = SimpleNamespace(times=(1999, 2000, 2001, 2002, 2003), born=BORN, labels=LABELS)
T0 = BORN >= 2000


class Reader:
    """Models by the year they are trained for: what they know, their last labels, and their classes."""

    def __init__(self, models):
        self.models = models
        self.store = SimpleNamespace(folder="run", matrix_row=lambda key: models[key][2])

    def stream(self, name):
        return STREAM

    def record(self, unit):
        if unit.key not in self.models:
            return None
        known, trained, _ = self.models[unit.key]
        return FitRecord(status="ok", key=unit.key, time=unit.time, role="test", known=known, trained_up_to=trained)


def units(*times):
    return [SimpleNamespace(key=str(time), time=time, chain=SimpleNamespace(stream="s")) for time in times]


def classes(wrong=(), known=(0, 1, 2)):
    """The truth, but for the vertices (by their number from t0 on) that are wrong and classes that are not known."""
    found = LABELS[T0].copy()
    found[~np.isin(found, known)] = known[0]
    found[list(wrong)] = (found[list(wrong)] + 1) % 2
    return found


def test_rows_are_models_and_columns_years_from_t0_on():
    models = {
        "2001": ([0, 1], 2000, classes(wrong=[4, 5], known=(0, 1))),
        "2002": ([0, 1], 2001, classes(wrong=[0], known=(0, 1))),
        "2003": ([0, 1, 2], 2002, classes(wrong=[0, 1, 4])),
    }
    found = dict(year_matrices(Reader(models), units(2001, 2002, 2003)))
    assert found["2001"].years == (2000, 2001) and found["2003"].years == (2000, 2001, 2002, 2003)
    cells = accuracies(found["2003"])
    assert cells[0].tolist() == [1.0, 0.5, 1.0, 1.0] and cells[1].tolist() == [0.75, 1.0, 1.0, 1.0]
    assert cells[2].tolist() == [0.5, 0.75, 1.0, 1.0]
    last = against_last(found["2003"])
    # 2000: best was the model of 2000, 1 - 0.5; 2001: 1 - 0.75.
    assert forgetting(last) == (pytest.approx((0.5 + 0.25) / 2), 2, "")
    assert backward_transfer(last) == (pytest.approx(-(0.5 + 0.25) / 2), 2, "")
    # 2001: 0.5 - 1/2. 2002 and 2003: 1 - 1/2 and 1 - 1/3.
    ahead = forward_transfer(cells, guessing(found["2003"]))
    assert ahead == (pytest.approx((0.0 + 0.5 + 2 / 3) / 3), 3, "")


def test_a_year_has_the_matrix_of_the_models_and_years_so_far():
    models = {
        "2001": ([0, 1], 2000, classes(known=(0, 1))),
        "2002": ([0, 1], 2001, classes(wrong=[0, 1, 2], known=(0, 1))),
        "2003": ([0, 1, 2], 2002, classes()),
    }
    found = dict(year_matrices(Reader(models), units(2001, 2002, 2003)))
    assert forgetting(against_last(found["2001"])).value is None
    assert forgetting(against_last(found["2002"])) == (0.75, 1, "")
    assert forgetting(against_last(found["2003"])) == (0.0, 2, "")


def test_a_model_that_is_missing_is_a_row_of_nan_and_shifts_no_other():
    models = {
        "2001": ([0, 1], 2000, classes(known=(0, 1))),
        "2003": ([0, 1, 2], 2002, classes(wrong=[0, 4])),
    }
    found = dict(year_matrices(Reader(models), units(2001, 2002, 2003)))["2003"]
    assert np.isnan(accuracies(found)[1]).all()
    # 2001 has no model that learned it before the last one.
    assert forgetting(against_last(found)) == (0.25, 1, "")


def test_where_labels_arrive_late_a_model_stands_in_the_row_of_its_last_labels():
    models = {
        "2001": ([0, 1], 1999, classes(known=(0, 1))),
        "2002": ([0, 1], 2000, classes(wrong=[0], known=(0, 1))),
        "2003": ([0, 1], 2001, classes(wrong=[0, 1], known=(0, 1))),
    }
    found = dict(year_matrices(Reader(models), units(2001, 2002, 2003)))["2003"]
    assert found.years == (1999, 2000, 2001, 2002, 2003)
    cells = accuracies(found)
    assert np.isnan(cells[:, 0]).all()  # before t0 nobody is asked
    # Class 2 is born in 2002 and never known: its vertices count for nobody.
    assert cells[2, 1:].tolist() == [0.5, 1.0, 1.0, 1.0]
    assert forgetting(against_last(found)) == (pytest.approx(0.75 - 0.5), 1, "")


def test_of_two_models_with_the_same_last_labels_the_newer_one_stands():
    models = {
        "2001": ([0, 1], 2000, classes(known=(0, 1))),
        "2002": ([0, 1], 2000, classes(wrong=[0], known=(0, 1))),
    }
    found = dict(year_matrices(Reader(models), units(2001, 2002, 2003)))["2002"]
    assert accuracies(found)[:, 0].tolist() == [0.75]


def test_once_a_model_was_not_asked_there_is_no_matrix_any_more():
    models = {
        "2001": ([0, 1], 2000, classes(known=(0, 1))),
        "2002": ([0, 1], 2001, None),
        "2003": ([0, 1, 2], 2002, classes()),
    }
    assert list(dict(year_matrices(Reader(models), units(2001, 2002, 2003)))) == ["2001"]


def test_a_row_of_another_length_is_refused():
    models = {"2001": ([0, 1], 2000, classes()[1:])}
    with pytest.raises(DataError, match="17 classes for 18 vertices"):
        list(year_matrices(Reader(models), units(2001, 2002, 2003)))
