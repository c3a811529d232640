from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Graph
from lgl_bench.strategies import EMPTY, FitTask, StepOutputs
from lgl_bench.strategies.ewc import squared_gradients
from lgl_bench.strategies.gradients import gradients
from lgl_bench.strategies.importance import stored_importances
from lgl_bench.strategies.twp import Twp, gradient_norm, topology_norm
from tests.support.graphs import graph, random_graph, to_sparse
from tests.support.strategies import fit, fit_task, go_on, line_model, no_edges, small_model, two_years, weights_of

BACKBONES = ["gcn", "gat", "graphsage", "graph-mlp", "mlp"]


def test_the_norm_of_the_gradient_by_hand():
    # As for EWC: the gradient of the mean loss is [[-1/4, 1/4], [1/2, -1/2]], its L1 norm 3/2.
    task = fit_task(no_edges([[1, 0], [0, 2]]), [0, 1], [0, 1])
    model = line_model([[0.0, 0.0], [0.0, 0.0]])
    assert gradient_norm(model, task.train, np.array([0, 1])).item() == 1.5


def test_the_topology_without_attention_is_the_norm_of_what_the_ends_of_arcs_say():
    # Embeddings 1 and -2: LeakyReLU(1 tanh(-2)) = -0.2 tanh 2 one way, LeakyReLU(-2 tanh 1) = -0.4 tanh 1 the other;
    # 1 and 1: tanh 1 both ways.
    model = line_model([[1.0]])
    apart = graph([(0, 1)], np.array([[1.0], [-2.0]], dtype=np.float32))
    expected = math.hypot(0.2 * math.tanh(2), 0.4 * math.tanh(1))
    assert topology_norm(model, apart).item() == pytest.approx(expected, rel=1e-6)
    alike = graph([(0, 1)], np.array([[1.0], [1.0]], dtype=np.float32))
    assert topology_norm(model, alike).item() == pytest.approx(math.sqrt(2) * math.tanh(1), rel=1e-6)


def test_the_topology_of_a_gat_is_the_norm_of_its_attention_logits():
    early, _ = two_years()
    model = small_model(early, "gat").eval()
    graph_ = early.train.graph
    with torch.no_grad():
        for layer in model.backbone.attention:
            layer.weight.fill_(1.0)
            layer.source.zero_()
            layer.target.fill_(-1.0)
        model.backbone.attention[1].target.zero_()
    # e = LeakyReLU(-(sum over 5 units of the sum of x_v)) = -0.2 * 5 * sum x_v on every arc into v, loops too, in 8
    # heads; the last layer has none.
    sums = graph_.features.sum(axis=1)
    into = np.bincount(graph_.edges[1], minlength=graph_.num_vertices) + 1
    assert topology_norm(model, graph_).item() == pytest.approx(math.sqrt(8 * (into * sums**2).sum()), rel=1e-5)


def test_the_importance_is_the_sum_of_both_each_with_its_factor_and_a_gradient_of_its_own():
    early, _ = two_years()
    model = small_model(early).eval()
    of_loss = squared_gradients(model, early.train, np.flatnonzero(early.new))
    of_topology = gradients(model, topology_norm(model, early.train.graph))
    found = Twp(loss=2.0, topology=3.0).importances(model, early)
    for name, one in found.items():
        assert torch.allclose(one, 2 * of_loss[name] + 3 * of_topology[name].square(), rtol=1e-5)
    assert any(one.any() for one in of_topology.values())


def in_double(kind: str) -> FitTask:
    """A small task whose features do not limit the precision: ones, other sparse values, or dense ones."""
    rng = np.random.default_rng(4)
    g = random_graph(10, 40)
    features = np.where(rng.random((10, 40)) < 0.1, 1.0 if kind == "ones" else rng.random((10, 40)), 0.0)
    given = rng.normal(size=(10, 40)) if kind == "dense" else to_sparse(features.astype(np.float32))
    return fit_task(Graph(given, g.edges, 10, g.born), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0], range(8))


@pytest.mark.parametrize("kind", ["dense", "ones", "sparse"])
@pytest.mark.parametrize("head", ["softmax", "gdoc", "isomax+", "genodin"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_norm_of_the_gradient_has_the_gradient_that_differences_say(backbone, head, kind):
    task = in_double(kind)
    model = small_model(task, backbone, head, hidden=6).double().train()
    with torch.no_grad():  # a fresh model stands on kinks: its biases are 0
        for weight in model.parameters():
            weight += 0.3 * torch.randn_like(weight)
    model.head.begin(torch.tensor([0, 1, 2]))
    if head == "gdoc":
        model.head._weights = model.head._weights.double()
    vertices = np.flatnonzero(task.new)
    found = gradients(model, gradient_norm(model, task.train, vertices))
    assert any(one.any() for one in found.values())
    assert isinstance(inputs_of(task.train.graph).features, torch.Tensor if kind == "dense" else SparseMatrix)
    torch.manual_seed(0)
    towards = {name: torch.randn_like(one) for name, one in found.items()}

    def moved(step):
        with torch.no_grad():
            for name, weight in model.named_parameters():
                weight += step * towards[name]
        value = gradient_norm(model, task.train, vertices).item()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                weight -= step * towards[name]
        return value

    slope = sum((found[name] * one).sum().item() for name, one in towards.items())
    assert slope == pytest.approx((moved(1e-6) - moved(-1e-6)) / 2e-6, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_each_of_the_three_terms_moves_the_result(backbone):
    early, late = two_years()
    weighty = {"loss": 1e3, "topology": 1e3, "gradient": 0.1}

    def result(**given):
        first = fit(Twp(**given), early, small_model(early, backbone), steps=8)
        second = go_on(late, first, Twp(**given), steps=8)
        return torch.cat([one.flatten() for one in weights_of(second.model).values()])

    everything = result(**weighty)
    for name in weighty:
        without = result(**(weighty | {name: 0.0}))
        assert (everything - without).abs().max() > 1e-4, name


def test_the_gradient_term_makes_gradients_smaller():
    early, _ = two_years()

    def norm(gradient):
        model = fit(Twp(0, 0, gradient), early, small_model(early), steps=5).model
        return gradient_norm(model, early.train, np.flatnonzero(early.new)).item()

    assert norm(1.0) < norm(0.0)


def test_a_vertex_whose_embedding_is_zero_does_not_make_the_penalty_infinite():
    task = fit_task(no_edges([[0, 0], [1, 2], [2, 1]]), [0, 1, 0], range(3))
    strategy, model = Twp(), small_model(task, "mlp", "isomax+").train()
    strategy.select(task, EMPTY, 0)
    strategy.begin(model, None, EMPTY)
    penalty = strategy.penalty(model, StepOutputs(torch.arange(3), torch.zeros(3, 2)))
    found = gradients(model, penalty)
    assert all(torch.isfinite(one).all() for one in found.values())
    assert 0 < penalty.item() < 100


def test_a_graph_without_edges_has_no_topology():
    task = fit_task(no_edges([[1, 0], [0, 2]]), [0, 1], [0, 1])
    memory = fit(Twp(loss=0.0), task, small_model(task)).memory
    assert not any(one.any() for one in stored_importances(memory).values())


@pytest.mark.parametrize("name", ["loss", "topology", "gradient"])
def test_a_negative_factor_is_refused(name):
    with pytest.raises(UsageError, match=f"{name} = -1: it must be at least 0"):
        Twp(**{name: -1})
