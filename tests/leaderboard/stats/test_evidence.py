"""How many more seeds would tell two rows apart, each worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from lgl_bench.leaderboard.stats.evidence import MAX_SEEDS, Evidence, Unpaired, more_seeds, of_seeds


def needed(found: Evidence) -> float:
    return more_seeds(lambda least: np.array([found.difference(least).p]), np.array([found.seeds]))[0]


def test_the_seeds_part_shrinks_with_more_seeds_and_t_gets_lighter_tails():
    # d = 0.1 with s = 0.1: t = sqrt S. Three seeds have t = 1.73 below 4.30, five 2.24 below 2.78, six 2.449 below
    # 2.571; seven have 2.646 above 2.447.
    found = Evidence(0.1, 0.01, 3)
    assert found.difference().p == pytest.approx(2 * scipy.stats.t.sf(3**0.5, 2))
    assert found.difference(6).p == pytest.approx(2 * scipy.stats.t.sf(6**0.5, 5)) and found.difference(6).p > 0.05
    assert found.difference(7).p == pytest.approx(2 * scipy.stats.t.sf(7**0.5, 6)) and found.difference(7).p < 0.05
    assert needed(found) == 4


def test_more_seeds_do_not_shrink_what_the_vertices_add():
    # Without vertices seven seeds suffice. With V = 0.0026 the error never falls below 0.051: 0.1 / 0.051 = 1.961 on so
    # many degrees of freedom that 1.960 is asked for, but a hundred seeds leave 0.052 and 1.923.
    assert needed(Evidence(0.1, 0.01, 3, fixed=0.0026, df=1e9)) != needed(Evidence(0.1, 0.01, 3))
    assert np.isnan(needed(Evidence(0.1, 0.01, 3, fixed=0.0026, df=1e9)))
    # V = 0.0016 and nine seeds: error sqrt(0.0016 + 0.01 / 9) = 0.0521 and t = 1.920; w = 0.41, df = 8 / 0.41 = 19.5.
    nine = Evidence(0.1, 0.01, 9, fixed=0.0016, df=1e9)
    assert nine.difference().p == pytest.approx(2 * scipy.stats.t.sf(0.1 / (0.0016 + 0.01 / 9) ** 0.5, 19.5), rel=1e-3)
    # Ten seeds: t = 0.1 / sqrt(0.0026) = 1.961 < 2.069; twelve: 2.027 < 2.046; thirteen: 2.055 > 2.0345.
    assert needed(nine) == 4


def test_what_splits_of_one_graph_share_does_not_shrink():
    # r = 1/3: the variance is never below 0.01 / 3, so t never reaches 0.1 / 0.0577 = 1.73.
    assert np.isnan(needed(Evidence(0.1, 0.01, 3, shared=1 / 3)))
    # d = 0.2: t = 0.2 / (0.1 sqrt(1/S + 1/3)) is 2.449 with three seeds, 2.619 < 3.182 with four, 2.739 < 2.776 with
    # five and 2.828 > 2.571 with six.
    assert needed(Evidence(0.2, 0.01, 3, shared=1 / 3)) == 3


def test_no_difference_is_never_found_however_many_seeds():
    assert np.isnan(needed(Evidence(0.0, 0.01, 3)))
    assert of_seeds(np.zeros(1)).difference().p == 1.0 and np.isnan(of_seeds(np.array([0.1])).difference().p)


def test_a_difference_that_needs_more_than_a_hundred_seeds_is_not_asked_for():
    # A hundred seeds have t = 10 d and ask for 1.984; 99 have 9.95 d, and 0.199 does not suffice for 1.9845.
    assert np.isnan(needed(Evidence(0.198, 1.0, 3)))
    assert needed(Evidence(0.199, 1.0, 3)) == MAX_SEEDS - 3


def test_two_seeds_are_no_test_whatever_more_would_show():
    assert np.isnan(Evidence(0.1, 0.01, 2).difference(50).p) and np.isnan(needed(Evidence(0.1, 0.01, 2)))


def test_with_tables_alone_both_sides_get_more_seeds():
    # s = 0.1 on both sides: t = 1 / sqrt(2 / S) for d = 0.1, on 2 S - 2 degrees of freedom. Eight: 2.0 < 2.145; nine:
    # 2.121 > 2.120.
    tenth, three = np.array([0.1]), np.array([3.0])
    found = Unpaired(np.array([0.5]), tenth, three, np.array([0.6]), tenth, three, np.array([0.0]))
    assert found.difference(9).p[0] == pytest.approx(2 * scipy.stats.t.sf(1 / (2 / 9) ** 0.5, 16))
    assert more_seeds(lambda least: found.difference(least).p, found.seeds).tolist() == [6]
    few = found._replace(seeds_b=np.array([2.0]))
    assert np.isnan(more_seeds(lambda least: few.difference(least).p, few.seeds)).all()


def test_holm_is_made_anew_for_every_number_of_seeds():
    # Alone the pair of the first test needs seven seeds, p = 0.038. A second, equal test doubles its p: eight seeds
    # give 2 * 0.0251 = 0.0502, nine 2 * 0.0171.
    alone, twice = Evidence(0.1, 0.01, 3), Evidence(np.full(2, 0.1), np.full(2, 0.01), np.full(2, 3))
    assert needed(alone) == 4
    assert more_seeds(lambda least: twice.difference(least).p, twice.seeds).tolist() == [6, 6]
    # A second test that is told apart anyway counts no more once it is, and costs the first one nothing.
    clear = Evidence(np.array([0.1, 9.0]), np.full(2, 0.01), np.full(2, 3))
    assert more_seeds(lambda least: clear.difference(least).p, clear.seeds)[0] == 4


def test_a_paired_t_is_the_test_of_scipy():
    differences = np.array([0.02, 0.03, -0.01, 0.05])
    assert of_seeds(differences).difference().p == pytest.approx(scipy.stats.ttest_1samp(differences, 0).pvalue)
    assert np.isnan(of_seeds(differences[:2]).difference().p)


def test_the_corrected_t_worked_by_hand():
    # d = 0.1, 0.2, 0.3: mean 0.2, s^2 = 0.01; (1/3 + 1/3) * 0.01 under the root: t = 0.2 / 0.08165 = 2.449.
    found = of_seeds(np.array([0.1, 0.2, 0.3]), 1 / 3).difference()
    assert found.value == pytest.approx(0.2)
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(0.2 / (0.01 * 2 / 3) ** 0.5, 2))
    assert found.hi - found.value == pytest.approx(scipy.stats.t.ppf(0.975, 2) * (0.01 * 2 / 3) ** 0.5)
    assert np.isnan(of_seeds(np.array([0.1, 0.2]), 1 / 3).difference().p)
