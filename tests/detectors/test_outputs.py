"""Detectors that read logits or embeddings."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.spatial.distance
import sklearn.covariance
import torch

from lgl_bench.core.errors import PluginError
from lgl_bench.detectors import Calibration
from lgl_bench.detectors.distmax import DistMax
from lgl_bench.detectors.energy import Energy
from lgl_bench.detectors.entropy import Entropy
from lgl_bench.detectors.isomax import IsoMaxPlusDetector
from lgl_bench.detectors.knn import Knn
from lgl_bench.detectors.mahalanobis import Mahalanobis
from lgl_bench.detectors.max_logit import MaxLogit
from lgl_bench.detectors.msp import Msp
from lgl_bench.detectors.one_vs_rest import DocDetector, GDocDetector
from lgl_bench.detectors.shortcuts import Degree, Random, Recency
from lgl_bench.heads.isomax import IsoMaxPlus
from tests.detectors.stubs import Says, fitted, points
from tests.graphs import graph

LOGITS = [[2.0, -1.0, 0.5], [0.0, 0.0, 0.0], [-3.0, -2.0, -4.0]]


def scores_of_logits(detector, logits=LOGITS):
    g = points(len(logits))
    return detector.score(Says((g, logits, None)), g)


def test_msp_is_one_minus_the_largest_class_probability():
    expected = [1 - math.exp(max(row)) / sum(map(math.exp, row)) for row in LOGITS]
    assert scores_of_logits(Msp()) == pytest.approx(expected, rel=1e-6)
    assert expected[1] == pytest.approx(2 / 3)


def test_max_logit_is_the_negative_of_the_largest_logit():
    assert scores_of_logits(MaxLogit()).tolist() == [-2.0, 0.0, 2.0]
    assert not MaxLogit.bounded


def test_energy_is_the_negative_of_the_log_of_the_summed_exponentials():
    expected = [-math.log(sum(map(math.exp, row))) for row in LOGITS]
    assert scores_of_logits(Energy()) == pytest.approx(expected, rel=1e-6)
    tempered = [-2 * math.log(sum(math.exp(x / 2) for x in row)) for row in LOGITS]
    assert scores_of_logits(Energy(temperature=2)) == pytest.approx(tempered, rel=1e-6)
    assert not Energy.bounded


def test_energy_of_huge_logits_stays_finite():
    assert scores_of_logits(Energy(), [[1e4, 0.0]]).tolist() == [-1e4]


def test_entropy_is_one_where_all_classes_are_as_likely_and_nothing_where_one_is_certain():
    found = scores_of_logits(Entropy(), [[1.0, 1.0, 1.0], [100.0, 0.0, 0.0], [0.0, 0.0, -1e4]])
    assert found[0] == pytest.approx(1)
    assert 0 <= found[1] < 1e-12
    assert found[2] == pytest.approx(math.log(2) / math.log(3))


@pytest.mark.parametrize("detector", [DocDetector(), GDocDetector()])
def test_doc_and_gdoc_are_one_minus_the_largest_sigmoid(detector):
    expected = [1 - 1 / (1 + math.exp(-max(row))) for row in LOGITS]
    assert scores_of_logits(detector) == pytest.approx(expected, rel=1e-6)
    assert detector.heads == (("doc",) if isinstance(detector, DocDetector) else ("gdoc",))


def embedded(width=4, n=30, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([5, 2, 8], n // 3)
    z = rng.normal(size=(n, width)) @ rng.normal(size=(width, width)) + 3 * labels[:, None]
    return z.astype(np.float32), labels


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


PROTOTYPES = [[2.0, 0.0], [0.0, 0.5], [-1.0, 0.0]]
EMBEDDINGS = [[5.0, 0.0], [3.0, 4.0], [0.0, -2.0]]


def isomax_model(scale=1.0):
    head = IsoMaxPlus(2, 3)
    head.prototypes.data = torch.tensor(PROTOTYPES)
    head.distance_scale.data = torch.tensor([scale])
    g = points(3)
    return Says((g, None, EMBEDDINGS), head=head), g


def test_isomax_is_half_the_distance_to_the_nearest_prototype_whatever_the_learned_scale():
    # Unit vectors (1, 0), (0.6, 0.8), (0, -1) against (1, 0), (0, 1), (-1, 0).
    expected = [0.0, math.sqrt(0.4) / 2, math.sqrt(2) / 2]
    for scale in (1.0, -7.0):
        model, g = isomax_model(scale)
        assert IsoMaxPlusDetector().score(model, g) == pytest.approx(expected, abs=1e-6)


def test_distmax_adds_largest_and_mean_logit_and_takes_off_the_entropy():
    model, g = isomax_model(scale=-2.0)
    units = [(1.0, 0.0), (0.6, 0.8), (0.0, -1.0)]
    expected = []
    for z in units:
        d = [2 * math.dist(z, p) / math.sqrt(2) for p in ((1, 0), (0, 1), (-1, 0))]
        logits = [-(x + sum(d) / 3) for x in d]
        total = sum(map(math.exp, logits))
        entropy = -sum(math.exp(x) / total * math.log(math.exp(x) / total) for x in logits)
        expected.append(-(max(logits) + sum(logits) / 3 - entropy))
    assert DistMax().score(model, g) == pytest.approx(expected, rel=1e-6)
    assert (DistMax.heads, DistMax.bounded) == (("isomax+",), False)


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


@pytest.mark.parametrize("detector", [Knn(), Mahalanobis()])
def test_a_detector_that_learns_refuses_to_score_before(detector):
    g = points(2)
    with pytest.raises(PluginError, match="has not been fitted; call fit first"):
        detector.score(Says((g, None, [[1.0], [2.0]])), g)
