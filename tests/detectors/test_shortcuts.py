from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.detectors import Calibration
from lgl_bench.detectors.shortcuts import Degree, Random, Recency
from tests.support.graphs import graph
from tests.support.stubs import points


def random_of(seed, g):
    detector = Random()
    detector.fit(None, None, np.array([0]), Calibration(None, None, np.array([0]), g, np.array([0]), seed=seed))
    return detector.score(None, g)


def test_random_noise_is_uniform_and_belongs_to_the_seed_of_the_run():
    g = points(4000)
    first = random_of(3, g)
    assert np.array_equal(first, random_of(3, g))
    assert not np.array_equal(first, random_of(4, g))
    assert first.min() >= 0
    assert first.max() <= 1
    assert np.histogram(first, bins=4, range=(0, 1))[0] == pytest.approx([1000] * 4, abs=120)


def test_degree_is_one_over_one_plus_the_number_of_neighbours():
    g = graph([(0, 1), (0, 2), (0, 3)], np.ones((5, 1), dtype=np.float32))
    assert Degree().score(None, g).tolist() == [1 / 4, 1 / 2, 1 / 2, 1 / 2, 1]


def test_recency_is_the_share_of_neighbours_born_in_the_same_year_and_1_without_any():
    g = graph([(0, 1), (0, 2), (0, 3)], np.ones((5, 1), dtype=np.float32))
    g = replace(g, born=np.array([2001, 2001, 2000, 2000, 2001]))
    assert Recency().score(None, g) == pytest.approx([1 / 3, 1, 0, 0, 1])
