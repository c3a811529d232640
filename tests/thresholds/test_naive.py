from __future__ import annotations

from lgl_bench.thresholds.naive import Naive
from tests.support.scores import scores


def test_naive_rejects_what_is_more_novel_than_its_cut_among_the_scored():
    test = scores([0.05, 0.1, 0.11, 0.9, 0.99], scored=[3, 0, 1, 2])
    assert Naive().delta == 0.1
    assert Naive().reject(test).tolist() == [True, False, False, True]
    assert Naive(delta=0.5).reject(test).tolist() == [True, False, False, False]
