from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial.distance
import sklearn.covariance

from lgl_bench.detectors.mahalanobis import Mahalanobis
from tests.support.stubs import Says, embedded, fitted, points


def test_mahalanobis_is_the_squared_distance_to_the_nearest_class_mean_under_one_shrunk_covariance():
    z, labels = embedded()
    fresh = np.random.default_rng(1).normal(size=(9, 4)).astype(np.float32) * 9
    train, test = points(30), points(9)
    model = Says((train, None, z), (test, None, fresh))
    used = np.arange(0, 30, 2)
    detector = fitted(Mahalanobis(), model, train, labels, fit_vertices=used)
    # Labels and embeddings of vertices outside the loss are not used.
    own, wide = labels[used], z[used].astype(np.float64)
    means = {k: wide[own == k].mean(axis=0) for k in (2, 5, 8)}
    around = np.stack([row - means[k] for row, k in zip(wide, own, strict=True)])
    covariance, _ = sklearn.covariance.ledoit_wolf(around, assume_centered=True)
    inverse = np.linalg.inv(covariance)
    expected = scipy.spatial.distance.cdist(fresh, np.stack(list(means.values())), "mahalanobis", VI=inverse) ** 2
    assert detector.score(model, test) == pytest.approx(expected.min(axis=1), rel=1e-4)
    assert not Mahalanobis.bounded


def test_mahalanobis_stays_finite_where_a_unit_never_fires():
    z, labels = embedded()
    z[:, 1] = 0
    g = points(30)
    model = Says((g, None, z))
    assert np.isfinite(fitted(Mahalanobis(), model, g, labels).score(model, g)).all()
