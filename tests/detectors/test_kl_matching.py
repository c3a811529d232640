from __future__ import annotations

import math

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import Calibration, detectors
from lgl_bench.detectors.kl_matching import KlMatching
from tests.support.graphs import random_graph
from tests.support.stubs import Says, calibration, fitted, points, snapshot
from tests.support.trained import gcn_logits, parts, small_case, softmax


def by_formula(p, calibrated):
    predicted = calibrated.argmax(axis=1)
    templates = [calibrated[predicted == c].mean(axis=0) for c in np.unique(predicted)]
    return [min(float(np.sum(row * np.log(row / q))) for q in templates) for row in p]


def test_a_worked_example():
    # Two calibration vertices predicted 0 with mean (0.7, 0.3), one predicted 1 at (0.2, 0.8).
    train, test = points(3), points(2)
    rows = np.log([[0.8, 0.2], [0.6, 0.4], [0.2, 0.8]])
    model = Says((train, rows, None), (test, np.log([[0.5, 0.5], [0.2, 0.8]]), None))
    nearer = 0.5 * math.log(0.5 / 0.7) + 0.5 * math.log(0.5 / 0.3)
    assert nearer < 0.5 * math.log(0.5 / 0.2) + 0.5 * math.log(0.5 / 0.8)
    assert fitted(KlMatching(), model, train).score(model, test) == pytest.approx([nearer, 0.0], abs=1e-6)


def test_it_is_the_formula_in_plain_numpy_and_learns_from_calibration_vertices_only():
    model, g, _ = small_case(n=30)
    test = random_graph(n=20, edges=40, seed=5)
    chosen = np.arange(4, 30, 3)
    detector = fitted(KlMatching(), model, g, fit_vertices=[0, 1], calibrated=calibration(model, g, chosen))
    p, fresh = softmax(parts(model, g)[1]), softmax(parts(model, test)[1])
    assert detector.score(model, test) == pytest.approx(by_formula(fresh, p[chosen]), rel=1e-5, abs=1e-9)
    assert not KlMatching.bounded


def test_calibration_vertices_of_the_year_before_are_taken_as_the_current_model_sees_them():
    now, g, _ = small_case()
    before, _, _ = small_case(seed=1, classes=2)
    earlier = calibration(before, g, np.arange(6))
    found = fitted(KlMatching(), now, g, calibrated=earlier).score(now, g)
    p = softmax(parts(now, g)[1])
    assert found == pytest.approx(by_formula(p, p[:6]), rel=1e-5, abs=1e-9)


def test_without_calibration_vertices_the_training_ones_serve():
    model, g, _ = small_case()
    nobody = Calibration(model, snapshot(g), np.arange(12), g, np.empty(0, dtype=np.int64))
    found = fitted(KlMatching(), model, g, fit_vertices=range(7), calibrated=nobody).score(model, g)
    p = softmax(parts(model, g)[1])
    assert found == pytest.approx(by_formula(p, p[:7]), rel=1e-5, abs=1e-9)


def test_probabilities_too_small_for_a_number_give_finite_scores():
    g = points(2)
    model = Says((g, [[2000.0, 0.0], [0.0, 2000.0]], None))
    one_class = calibration(model, g, [0])
    scores = fitted(KlMatching(), model, g, calibrated=one_class).score(model, g)
    assert scores == pytest.approx([0.0, 2000.0])


def test_over_clipped_embeddings_templates_come_from_those():
    model, g, labels = small_case()
    detector = fitted(build(parse("react(kl-matching, percentile=40)"), detectors), model, g, labels)
    p = softmax(gcn_logits(model, g, np.minimum(parts(model, g)[0], detector.limit_)))
    assert detector.score(model, g) == pytest.approx(by_formula(p, p), rel=1e-3, abs=1e-6)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="kl-matching has not been fitted; call fit first"):
        KlMatching().score(model, g)
