from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError
from lgl_bench.detectors.genodin import STEPS, GenOdinDetector
from lgl_bench.training.model import build_model
from tests.support.graphs import graph
from tests.support.stubs import calibration, fitted


def model_and_graph(seed=0):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((9, 6)) < 0.4, 0, rng.normal(size=(9, 6))).astype(np.float32)
    model = build_model("mlp", "genodin", 6, np.arange(3), {"hidden": 5}).eval()
    for projection in model.backbone.projections:  # so that no embedding is zero
        projection.bias.data.normal_()
    return model, graph([(0, 1)], x)


def largest_cosine(model, x):
    """The largest cosine of each row with a class direction, of an MLP of two layers."""
    first, second = model.backbone.projections
    z = torch.relu(x @ first.weight + first.bias) @ second.weight + second.bias
    w = model.head.directions
    cosines = (z @ w.T) / (z.norm(dim=1)[:, None] * w.norm(dim=1)[None, :])
    return cosines.max(dim=1).values


def after_a_step(model, x, eps):
    x = torch.from_numpy(x).requires_grad_()
    (slope,) = torch.autograd.grad(largest_cosine(model, x).sum(), x)
    with torch.no_grad():
        return largest_cosine(model, x + eps * slope.sign() * (x != 0)).double().numpy()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_genodin_takes_the_step_with_the_largest_mean_cosine_on_calibration_vertices(seed):
    model, g = model_and_graph(seed)
    vertices = [0, 3, 5]
    means = {eps: after_a_step(model, g.features, eps)[vertices].mean() for eps in STEPS}
    detector = fitted(GenOdinDetector(), model, g, calibrated=calibration(model, g, vertices))
    assert detector.eps_ == max(means, key=means.get)
    expected = (1 - after_a_step(model, g.features, detector.eps_)) / 2
    assert detector.score(model, g) == pytest.approx(expected, abs=1e-6)


def test_a_step_that_goes_too_far_for_the_calibration_vertices_is_not_taken():
    model, g = model_and_graph()
    model.backbone.projections[0].weight.data *= 30
    chosen = set()
    for v in range(0, 9, 2):
        means = [after_a_step(model, g.features, eps)[v] for eps in STEPS]
        detector = fitted(GenOdinDetector(), model, g, calibrated=calibration(model, g, [v]))
        assert detector.eps_ == STEPS[int(np.argmax(means))]
        chosen.add(detector.eps_)
    assert chosen & set(STEPS[1:-1])


def test_the_steps_to_choose_from_are_those_of_the_method():
    assert STEPS == (0.0, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)


def test_of_equal_steps_the_smallest_is_taken():
    model, g = model_and_graph()
    g = graph([], np.zeros((4, 6), dtype=np.float32))  # nothing can move
    assert fitted(GenOdinDetector(), model, g).eps_ == 0.0


def test_the_step_is_chosen_on_the_model_that_scores_the_calibration_vertices():
    (before, g), (now, _) = model_and_graph(), model_and_graph()
    before.backbone.projections[0].weight.data *= 30
    pairs = set()
    for v in range(0, 9, 2):
        by_before, by_now = calibration(before, g, [v]), calibration(now, g, [v])
        chosen = fitted(GenOdinDetector(), before, g, calibrated=by_before).eps_
        assert fitted(GenOdinDetector(), now, g, calibrated=by_before).eps_ == chosen
        pairs.add((chosen, fitted(GenOdinDetector(), now, g, calibrated=by_now).eps_))
    assert any(a != b for a, b in pairs)


def test_genodin_needs_to_be_fitted():
    model, g = model_and_graph()
    with pytest.raises(PluginError, match="genodin has not been fitted"):
        GenOdinDetector().score(model, g)
