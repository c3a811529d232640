from __future__ import annotations

import numpy as np
import pytest
import sklearn.covariance

from lgl_bench.core.errors import PluginError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.mahalanobis import Mahalanobis
from lgl_bench.detectors.rmds import Rmds
from tests.support.stubs import Says, embedded, fitted, points
from tests.support.trained import parts, small_case


def by_formula(z, train_z, labels):
    """Distance by distance."""
    means = {k: train_z[labels == k].mean(axis=0) for k in np.unique(labels)}
    around = np.stack([row - means[k] for row, k in zip(train_z, labels, strict=True)])
    tied = np.linalg.inv(sklearn.covariance.ledoit_wolf(around, assume_centered=True)[0])
    centre = train_z.mean(axis=0)
    whole = np.linalg.inv(sklearn.covariance.ledoit_wolf(train_z - centre, assume_centered=True)[0])
    return [
        min((row - mean) @ tied @ (row - mean) - (row - centre) @ whole @ (row - centre) for mean in means.values())
        for row in z
    ]


def test_it_is_the_formula_in_plain_numpy_on_new_vertices():
    z, labels = embedded()
    fresh = np.random.default_rng(1).normal(size=(9, 4)).astype(np.float32) * 9
    train, test = points(30), points(9)
    model = Says((train, None, z), (test, None, fresh))
    used = np.arange(0, 30, 2)
    detector = fitted(Rmds(), model, train, labels, fit_vertices=used)
    expected = by_formula(fresh.astype(np.float64), z[used].astype(np.float64), labels[used])
    assert detector.score(model, test) == pytest.approx(expected, rel=1e-3, abs=1e-3)
    assert not Rmds.bounded


def test_with_a_single_class_the_two_distances_cancel():
    z, _ = embedded()
    g = points(30)
    model = Says((g, None, z))
    assert fitted(Rmds(), model, g, np.full(30, 4)).score(model, g) == pytest.approx([0.0] * 30, abs=1e-6)


def test_a_worked_example_in_one_dimension():
    # Classes at 0 and 10 with variance 1 around each; all together have mean 5 and variance 26.
    z = np.array([[-1.0], [1.0], [9.0], [11.0]] * 50)
    train, test = points(200), points(3)
    model = Says((train, None, z), (test, None, [[0.0], [5.0], [-10.0]]))
    detector = fitted(Rmds(), model, train, np.array([0, 0, 1, 1] * 50))
    # Of 5: 25 to the nearer class less 0 to the middle; of -10: 100 to class 0 less 225 / 26.
    assert detector.score(model, test) == pytest.approx([-25 / 26, 25.0, 100 - 225 / 26], rel=1e-3)


def test_embeddings_that_never_change_stay_finite():
    g = points(12)
    model = Says((g, None, np.ones((12, 4))))
    assert np.isfinite(fitted(Rmds(), model, g, np.arange(12) % 3).score(model, g)).all()


def test_over_clipped_embeddings_both_gaussians_are_of_those():
    model, g, labels = small_case(n=24, hidden=3)
    detector = fitted(build(parse("react(rmds, percentile=80)"), detectors), model, g, labels)
    z = np.minimum(parts(model, g)[0], detector.limit_)
    assert detector.score(model, g) == pytest.approx(by_formula(z, z, labels), rel=1e-2, abs=1e-2)


def test_the_distance_to_the_classes_is_that_of_mahalanobis():
    z, labels = embedded()
    g = points(30)
    model = Says((g, None, z))
    relative, plain = (fitted(kind(), model, g, labels) for kind in (Rmds, Mahalanobis))
    assert np.array_equal(relative.precision_, plain.precision_) and np.array_equal(relative.means_, plain.means_)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="rmds has not been fitted; call fit first"):
        Rmds().score(model, g)
