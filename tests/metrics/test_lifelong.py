"""The grades of a chain of fits, as the board names them."""

from __future__ import annotations

import pytest

from lgl_bench.metrics import ChainAnswers, metrics
from lgl_bench.metrics.emerging import ClassShares
from tests.metrics.test_year_matrix import MATRIX


def grades(chain):
    return {name: plugin()(chain) for name, plugin in metrics.chained().items()}


def test_there_are_four_and_their_directions_are_known():
    assert list(metrics.chained()) == ["forgetting", "backward_transfer", "forward_transfer", "emergence"]
    better = {name: plugin.higher_is_better for name, plugin in metrics.chained().items()}
    assert better == {"forgetting": False, "backward_transfer": True, "forward_transfer": True, "emergence": False}


def test_what_comes_from_the_matrix_is_undefined_without_it_for_the_reason_given():
    found = grades(ChainAnswers((), None, "nobody asked"))
    assert {found[name].reason for name in ("forgetting", "backward_transfer", "forward_transfer")} == {"nobody asked"}
    assert found["emergence"] == (None, 0, "no class became known after the first year")


def test_each_says_how_many_years_or_classes_stand_behind_it():
    first = ClassShares(2000, frozenset({0}), {0: 1.0})
    second = ClassShares(2001, frozenset({0, 7, 8, 9}), {7: 0.4, 8: 0.9, 9: 0.0})
    third = ClassShares(2002, frozenset({0, 7, 8, 9}), {7: 0.5, 8: 0.9, 9: 0.0})
    found = grades(ChainAnswers((first, second, third), MATRIX))
    assert found["forgetting"][:2] == (pytest.approx(0.3), 1)
    assert found["backward_transfer"][:2] == (pytest.approx(-0.3), 1)
    # 2001 by the model before it, which knows one class: 0.5 - 1.
    assert found["forward_transfer"][:2] == (pytest.approx(-0.5), 1)
    # Class 7 reaches 0.9 of 0.5 after a year, class 8 at once; class 9 is never recognised and has no value.
    assert found["emergence"][:2] == (0.5, 2)
