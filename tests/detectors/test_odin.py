from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.core.errors import PluginError
from lgl_bench.detectors.odin import Odin, confidence
from lgl_bench.detectors.perturb import feature_scale, perturbed
from lgl_bench.kernels import arc_ends
from lgl_bench.training.model import build_model
from tests.support.graphs import graph, random_graph, to_sparse
from tests.support.stubs import fitted

EPS = 0.05


@pytest.fixture
def double():
    """Double precision for everything torch makes, so that finite differences mean something."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def connected(seed=1):
    """Seven connected vertices; some features are zero."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(7, 4))
    x[rng.random((7, 4)) < 0.3] = 0
    return graph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 0), (1, 4)], x)


def gcn(features=4, seed=0):
    torch.manual_seed(seed)
    return build_model("gcn", "softmax", features, np.arange(3), {"hidden": 5}).eval()


def looped_arcs(g):
    return arc_ends(inputs_of(g).looped)


def logits_by_hand(model, x, arcs, weights):
    """A GCN of two layers from dense matrices; a[v, u] is the weight of the arc from u to v."""
    a = np.zeros((len(x), len(x)))
    a[arcs[1], arcs[0]] = weights
    a = a / np.sqrt(a.sum(axis=1))[:, None] / np.sqrt(a.sum(axis=0))[None, :]
    (w0, b0), (w1, b1) = ((p.weight.detach().numpy(), p.bias.detach().numpy()) for p in model.backbone.projections)
    return a @ np.maximum(a @ x @ w0 + b0, 0) @ w1 + b1


def softmax(rows):
    e = np.exp(rows - rows.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def slopes(function, at, step=1e-6):
    """The gradient by central differences."""
    found = np.zeros(at.size)
    for i in range(at.size):
        change = np.zeros(at.size)
        change[i] = step
        change = change.reshape(at.shape)
        found[i] = (function(at + change) - function(at - change)) / (2 * step)
    return found.reshape(at.shape)


def moves(model, g, temperature=2.0, eps=EPS, scale=1.0):
    return perturbed(
        model, g, lambda inputs: confidence(model(inputs).logits, temperature), eps, arcs=True, scale=scale
    )


def odin(g, **parameters):
    """ODIN, fitted to the features of a graph."""
    return fitted(Odin(**parameters), None, g)


@pytest.mark.parametrize("temperature", [1.0, 1000.0])
def test_features_and_arc_weights_move_along_the_finite_differences_of_the_summed_log_confidence(double, temperature):
    g, model = connected(), gcn()
    arcs, x, ones = looped_arcs(g), g.features, np.ones(looped_arcs(g).shape[1])

    def objective(x, w):
        return temperature * np.log(softmax(logits_by_hand(model, x, arcs, w) / temperature).max(axis=1)).sum()

    by_feature = slopes(lambda at: objective(at, ones), x)
    by_arc = slopes(lambda at: objective(x, at), ones)
    assert min(np.abs(by_feature).min(), np.abs(by_arc).min()) > 1e-6
    scale = x[x != 0].std()
    assert abs(scale - 1) > 0.01
    moved = moves(model, g, temperature, scale=scale)
    assert np.allclose(moved.features.numpy() - x, EPS * scale * np.sign(by_feature) * (x != 0), atol=1e-12)
    assert np.allclose(moved.weights.numpy() - 1, EPS * np.sign(by_arc), atol=1e-12)
    # The two arcs of an edge have weights of their own.
    sign = {(u, v): s for u, v, s in zip(*arcs, np.sign(by_arc), strict=True)}
    assert any(sign[u, v] != sign[v, u] for u, v in sign)
    expected = 1 - softmax(
        logits_by_hand(model, moved.features.numpy(), arcs, moved.weights.numpy()) / temperature
    ).max(axis=1)
    assert odin(g, eps=EPS, temperature=temperature).score(model, g) == pytest.approx(expected, abs=1e-9)


def test_the_gradient_of_the_objective_equals_finite_differences(double):
    g, model = connected(seed=2), gcn(seed=3)
    start = inputs_of(g)
    arcs, ones = looped_arcs(g), np.ones(looped_arcs(g).shape[1])
    x, w = torch.from_numpy(g.features).requires_grad_(), torch.ones(len(ones), requires_grad=True)
    confidence(model(start.moved(x, w)).logits, 2.0).backward()

    def objective(x, w):
        return np.log(softmax(logits_by_hand(model, x, arcs, w) / 2).max(axis=1)).sum()

    assert np.allclose(x.grad.numpy(), slopes(lambda at: objective(at, ones), g.features), atol=1e-7)
    assert np.allclose(w.grad.numpy(), slopes(lambda at: objective(g.features, at), ones), atol=1e-7)


def bag_of_words(sparse):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((12, 200)) < 0.03, rng.random((12, 200)) + 0.5, 0).astype(np.float32)
    edges = [(i, (i + 1) % 12) for i in range(12)]
    return graph(edges, to_sparse(dense) if sparse else dense), dense


@pytest.mark.parametrize("sparse", [False, True])
def test_only_features_that_are_not_zero_move_and_each_by_exactly_the_step(sparse):
    g, dense = bag_of_words(sparse)
    assert isinstance(inputs_of(g).features, SparseMatrix) == sparse
    features = moves(gcn(200), g).features
    if sparse:
        change = features.values.numpy() - dense[dense != 0]
        assert features.arcs is inputs_of(g).features.arcs
    else:
        change = (features.numpy() - dense)[dense != 0]
        assert not features.numpy()[dense == 0].any()
    assert np.abs(change) == pytest.approx(np.full(len(change), EPS), abs=1e-6)
    assert len(set(np.sign(change))) == 2


def test_sparse_and_dense_features_move_alike_and_score_alike():
    (sparse, values), (dense, _) = bag_of_words(True), bag_of_words(False)
    model = gcn(200)
    moved = moves(model, dense).features.numpy()
    assert np.allclose(moves(model, sparse).features.values.numpy(), moved[values != 0], atol=1e-6)
    found = [odin(g, temperature=2.0).score(model, g) for g in (sparse, dense)]
    assert found[0] == pytest.approx(found[1], abs=1e-5)


def test_every_arc_and_every_self_loop_of_a_gcn_moves_by_the_step(double):
    g = connected()
    weights = moves(gcn(), g).weights.numpy()
    arcs = looped_arcs(g)
    assert weights.shape == (16 + 7,)
    assert (arcs[0] == arcs[1]).sum() == 7
    assert np.abs(weights - 1) == pytest.approx(np.full(23, EPS), abs=1e-12)


@pytest.mark.parametrize("name", ["graphsage", "gat", "graph-mlp", "mlp"])
def test_a_backbone_without_arc_weights_has_only_its_features_moved(name):
    g = random_graph()
    model = build_model(name, "softmax", 6, np.arange(3), {"hidden": 4}).eval()
    moved = moves(model, g)
    assert moved.weights is None
    change = np.abs(moved.features.numpy() - g.features)
    assert ((change < 1e-6) | (np.abs(change - EPS) < 1e-6)).all()
    assert (change > 0).mean() > 0.8


def test_without_a_step_odin_is_one_minus_the_largest_tempered_probability():
    g = random_graph()
    for name in ("gcn", "gat"):
        model = build_model(name, "softmax", 6, np.arange(3), {"hidden": 4}).eval()
        f = model.outputs(g).logits.double().numpy()
        found = odin(g, eps=0.0, temperature=10.0).score(model, g)
        assert found == pytest.approx(1 - softmax(f / 10).max(axis=1), abs=1e-6)


def test_a_step_makes_vertices_look_more_familiar_on_the_whole():
    g, model = random_graph(), gcn(6)
    before = odin(g, eps=0.0, temperature=1.0).score(model, g)
    assert odin(g, eps=0.01, temperature=1.0).score(model, g).sum() < before.sum()


def test_scoring_leaves_the_graph_and_the_remembered_inputs_as_they_were():
    g, model = random_graph(), gcn(6)
    before = g.features.copy()
    detector = odin(g, eps=0.5, temperature=1.0)
    first = detector.score(model, g)
    assert np.array_equal(g.features, before)
    assert inputs_of(g).weights is None
    assert np.array_equal(detector.score(model, g), first)
    assert all(weight.grad is None for weight in model.parameters())


def test_the_scale_is_the_deviation_of_what_is_not_zero_and_1_for_zeros_and_ones():
    dense = np.array([[0, 1.0, 3.0], [5.0, 0, 0]], dtype=np.float32)
    by_hand = np.sqrt(((1 - 3) ** 2 + 0 + (5 - 3) ** 2) / 3)
    assert feature_scale(dense) == pytest.approx(by_hand) == feature_scale(to_sparse(dense))
    assert feature_scale(np.eye(4, dtype=np.float32)) == feature_scale(to_sparse(np.eye(4))) == 1.0
    assert feature_scale(np.eye(4) * 0.25) == 0.25
    assert feature_scale(np.zeros((2, 2))) == 1.0


def test_odin_does_not_depend_on_the_unit_features_are_measured_in():
    """The same graph in other units, with a model whose first weights are in the inverse units, scores the same."""
    small = random_graph()
    large = replace(small, features=small.features * 8)
    model, same = gcn(6), gcn(6)
    with torch.no_grad():
        same.backbone.projections[0].weight /= 8
    found = [odin(g, eps=0.1, temperature=1.0).score(m, g) for g, m in ((small, model), (large, same))]
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_odin_refuses_to_score_before_it_knows_the_scale():
    with pytest.raises(PluginError, match="call fit first"):
        Odin().score(gcn(6), random_graph())


def test_odin_has_the_step_and_the_temperature_of_the_paper_unless_told_otherwise():
    assert (Odin().eps, Odin().temperature) == (0.05, 1000.0)
