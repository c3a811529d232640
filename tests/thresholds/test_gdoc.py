from __future__ import annotations

import math

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError
from lgl_bench.thresholds.gdoc import GDocThreshold, class_thresholds
from tests.support.scores import NOTHING, scores

P = [
    [0.9, 0.3, 0.1],  # class 0
    [0.8, 0.9, 0.2],  # class 0
    [0.2, 0.4, 0.9],  # class 1
    [0.0, 0.95, 0.1],  # class 1
    [0.0, 0.0, 0.0],  # not scored
]
# sigma_0 = sqrt((0.1^2 + 0.2^2) / 2) = 0.158114, 1 - 3 sigma_0 = 0.525658
# sigma_1 = sqrt((0.6^2 + 0.05^2) / 2) = 0.425735, 1 - 3 sigma_1 = -0.277, so 0.1; class 2 has no vertex: 0.1
DELTAS = [1 - 3 * math.sqrt(0.025), 0.1, 0.1]


def gdoc(**knobs):
    threshold = GDocThreshold(**knobs)
    threshold.fit(scores(probabilities=P, scored=[0, 1, 2, 3], labels=[0, 0, 1, 1, 0]), NOTHING, seed=0)
    return threshold


def test_gdoc_has_a_cut_for_each_class_three_deviations_of_its_own_vertices_below_1():
    assert gdoc().deltas_ == pytest.approx(DELTAS)
    assert DELTAS[0] == pytest.approx(0.525658, abs=1e-6)
    assert gdoc(scale=1.0).deltas_ == pytest.approx([1 - math.sqrt(0.025), 1 - math.sqrt(0.18125), 0.1])
    assert gdoc(delta_min=0.6).deltas_ == pytest.approx([0.6, 0.6, 0.6])


def test_the_deviation_of_gdoc_is_that_of_the_points_mirrored_around_1():
    y = np.array([0.9, 0.75, 0.97])
    mirrored = np.concatenate([y, 2 - y])
    found = class_thresholds(y[:, None], np.zeros(3, dtype=np.int64), 0.0, 1.0)
    assert found == pytest.approx([1 - mirrored.std()])


def test_gdoc_rejects_only_what_lies_below_the_cut_of_every_class():
    test = scores(probabilities=[[0.5, 0.05, 0.05], [0.5, 0.2, 0.05], [0.6, 0.0, 0.0], [0.0, 0.0, 0.1], [0, 0, 0]])
    assert gdoc().reject(test).tolist() == [True, False, False, False, True]


def test_gdoc_needs_labels_and_a_fit():
    with pytest.raises(PluginError, match="needs the labels of the training vertices"):
        GDocThreshold().fit(scores(probabilities=P), NOTHING, seed=0)
    with pytest.raises(PluginError, match="has not been fitted"):
        GDocThreshold().reject(scores(probabilities=P))
