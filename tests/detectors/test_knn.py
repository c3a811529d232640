from __future__ import annotations

import math

import numpy as np
import pytest

from lgl_bench.detectors.knn import Knn
from tests.support.stubs import Says, fitted, points


@pytest.mark.parametrize(("k", "which"), [(1, 1), (3, 3), (7, 7), (50, 7)])
def test_knn_is_half_the_distance_to_the_kth_nearest_training_embedding_or_the_last_there_is(k, which):
    rng = np.random.default_rng(0)
    z, fresh = rng.normal(size=(10, 3)), rng.normal(size=(5, 3)) * 7
    train, test = points(10), points(5)
    model = Says((train, None, z), (test, None, fresh))
    detector = fitted(Knn(k=k), model, train, fit_vertices=range(1, 8))
    unit = [row / math.sqrt((row**2).sum()) for row in z[1:8]]
    expected = []
    for row in fresh:
        own = row / math.sqrt((row**2).sum())
        expected.append(sorted(math.dist(own, other) for other in unit)[which - 1] / 2)
    assert detector.score(model, test) == pytest.approx(expected, abs=1e-6)


def test_knn_asks_the_fiftieth_neighbour_unless_told_otherwise():
    assert Knn().k == 50
