from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError
from lgl_bench.detectors import Calibration, Detector
from lgl_bench.detectors.good import Good, neighbour_mean
from lgl_bench.detectors.mapping import Mapping, learn_mapping, mapped
from lgl_bench.detectors.odin import Odin
from tests.support.graphs import graph
from tests.support.stubs import Fixed, calibration, fitted, points, snapshot

# A triangle 0, 1, 2 with a tail 3; vertex 4 is isolated.
FIVE = graph([(0, 1), (1, 2), (0, 2), (2, 3)], np.ones((5, 1), dtype=np.float32))
S = [0.1, 0.2, 0.6, 0.9, 0.3]
NEIGHBOURS = [(0.2 + 0.6) / 2, (0.1 + 0.6) / 2, (0.1 + 0.2 + 0.9) / 3, 0.6, 0.3]


def good(base, alpha, g=FIVE):
    return fitted(Good(base, alpha), None, g).score(None, g)


def test_good_mixes_own_novelty_with_the_mean_of_the_neighbours():
    assert good(Fixed(S), 0.25) == pytest.approx([0.175, 0.2375, 0.55, 0.825, 0.3])


def test_with_alpha_0_good_is_its_base():
    assert good(Fixed(S), 0.0) == pytest.approx(S)


def test_with_alpha_1_good_is_the_mean_of_the_neighbours_and_an_isolated_vertex_keeps_its_own():
    assert good(Fixed(S), 1.0) == pytest.approx(NEIGHBOURS)
    assert neighbour_mean(np.array(S), FIVE.edges) == pytest.approx(NEIGHBOURS)


def test_without_edges_good_is_its_base_for_any_alpha():
    assert good(Fixed(S), 0.7, points(5)) == pytest.approx(S)


def test_good_nests():
    # Half of 0.175, 0.2375, 0.55, 0.825, 0.3 and half of the means of the neighbours among these.
    assert good(Good(Fixed(S), 0.25), 0.5) == pytest.approx([0.284375, 0.3, 0.48125, 0.6875, 0.3])


def test_over_an_unbounded_base_good_mixes_mapped_scores():
    raw = [0.0, 10.0, 20.0, 30.0, 40.0]  # median 20, quartiles 10 and 30
    s = [1 / (1 + math.exp(-(x - 20) / 20)) for x in raw]
    neighbours = [(s[1] + s[2]) / 2, (s[0] + s[2]) / 2, (s[0] + s[1] + s[3]) / 3, s[2], s[4]]
    expected = [0.4 * a + 0.6 * b for a, b in zip(s, neighbours, strict=True)]
    assert good(Fixed(raw, bounded=False), 0.6) == pytest.approx(expected)


def test_only_calibration_vertices_tell_the_mapping_of_an_unbounded_base():
    base = Fixed([-100.0, 0.0, 10.0, 20.0, 100.0], bounded=False)
    detector = fitted(Good(base, 0.0), None, FIVE, calibrated=calibration(None, FIVE, [1, 2, 3]))
    assert detector.mapping_ == Mapping(10.0, 10.0)  # of 0, 10, 20: quartiles 5 and 15


def test_good_is_bounded_and_takes_over_the_heads_of_its_base():
    base = Fixed(S, bounded=False)
    base.heads = ("isomax+",)
    assert Good(base).bounded
    assert Good(base).heads == ("isomax+",)
    assert not Good(Good(Odin())).reads_outputs


def test_good_has_to_be_fitted():
    with pytest.raises(PluginError, match="good has not been fitted; call fit first"):
        Good(Fixed(S)).score(None, FIVE)


def test_a_mapping_is_the_sigmoid_of_the_distance_from_the_median_in_interquartile_ranges():
    mapping = Mapping.of(np.array([7.0, 1.0, 3.0, 5.0]))  # quartiles 2.5 and 5.5
    assert (mapping.median, mapping.spread) == (4.0, 3.0)
    found = mapping(np.array([4.0, 7.0, -2.0]))
    assert found == pytest.approx([0.5, 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(2))])
    assert found.dtype == np.float64


def test_equal_calibration_scores_get_a_spread_of_a_millionth():
    mapping = Mapping.of(np.full(9, 3.0))
    assert mapping.spread == 1e-6
    assert mapping(np.array([3.0, 3.0 + 1e-6])) == pytest.approx([0.5, 1 / (1 + math.exp(-1))])
    assert mapping(np.array([-1e9, 1e9])).tolist() == [0.0, 1.0]


def test_bounded_scores_are_not_mapped():
    assert learn_mapping(Fixed(S), None, calibration(None, FIVE)) is None
    assert mapped(np.array(S), None).tolist() == S


class Learns(Detector):
    """Learns a factor from the model it is fitted on; its scores also depend on the model that is scored."""

    bounded = False

    def fit(self, model, train, fit_vertices, calibration):
        self.factor_ = model.factor * train.time
        self.vertices_ = fit_vertices

    def score(self, model, graph):
        return self.factor_ * np.arange(graph.num_vertices) + model.offset


def test_calibration_scores_of_a_model_of_the_year_before_come_from_the_detector_fitted_on_that_model():
    now, before = SimpleNamespace(factor=5.0, offset=0.0), SimpleNamespace(factor=2.0, offset=100.0)
    g = points(5)
    train = snapshot(g)
    earlier = Calibration(before, _at(train, 3), np.array([0]), g, np.arange(5))
    detector = Learns()
    detector.fit(now, _at(train, 4), np.arange(5), earlier)
    # Scores 100, 106, 112, 118, 124: not those of the current model, 0, 20, 40, 60, 80.
    assert learn_mapping(detector, now, earlier) == Mapping(112.0, 12.0)
    assert detector.factor_ == 20
    assert len(detector.vertices_) == 5


def test_calibration_scores_of_the_current_model_come_from_the_detector_as_it_is():
    now = SimpleNamespace(factor=5.0, offset=0.0)
    g = points(5)
    detector = Learns()
    detector.fit(now, _at(snapshot(g), 4), np.arange(5), calibration(now, g))
    detector.factor_ = 1.0
    assert learn_mapping(detector, now, calibration(now, g)) == Mapping(2.0, 2.0)


def _at(train, time):
    return type(train)(time, train.graph, train.labels, train.born)
