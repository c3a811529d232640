from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgl_bench.core.errors import PluginError
from lgl_bench.core.matthews import matthews
from lgl_bench.thresholds.gdoc import GDocThreshold
from lgl_bench.thresholds.naive import Naive
from lgl_bench.thresholds.openwgl import OpenWgl
from lgl_bench.thresholds.oracle import Oracle, best_cut
from lgl_bench.thresholds.quantile import Conformal, Quantile
from tests.support.scores import NOTHING, scores

CASES = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=12)


@settings(max_examples=80, deadline=None)
@given(CASES)
def test_the_oracle_is_as_good_as_the_best_of_all_cuts(cases):
    novelty, new = np.array([a / 5 for a, _ in cases]), np.array([b for _, b in cases])
    oracle = Oracle()
    oracle.reveal(new)
    rejected = oracle.reject(scores(novelty))

    def correlation(called: np.ndarray) -> float:
        cells = (new & called, ~new & ~called, ~new & called, new & ~called)
        return float(matthews(*(cell.sum() for cell in cells)))

    assert correlation(rejected) == pytest.approx(max(correlation(novelty > cut) for cut in [-1.0, *novelty]))
    if len(set(new)) == 1:  # nothing to tell apart: nobody where all are known, everybody where all are new
        assert (rejected == new).all()


def test_the_best_cut_separates_what_can_be_separated():
    assert best_cut(np.array([0.9, 0.1, 0.8, 0.3]), np.array([True, False, True, False])) == 0.3


def test_the_oracle_sees_scored_vertices_only_and_is_never_ranked():
    oracle = Oracle()
    oracle.reveal(np.array([True, False]))
    assert oracle.reject(scores([0.5, 0.9, 0.2], scored=[0, 2])).tolist() == [True, False]
    assert not Oracle.ranked
    assert all(kind.ranked for kind in (Naive, GDocThreshold, OpenWgl, Quantile, Conformal))


def test_an_oracle_that_was_not_told_the_truth_says_so():
    with pytest.raises(PluginError, match="has not been told the truth; call reveal first"):
        Oracle().reject(NOTHING)
