from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones import Shape, backbones
from lgl_bench.backbones.gat import GAT
from lgl_bench.backbones.gcn import GCN
from lgl_bench.backbones.graphsage import GraphSAGE
from lgl_bench.backbones.inputs import Inputs, inputs_of
from lgl_bench.backbones.sparse import SparseMatrix, to_matrix
from lgl_bench.streams.tensors import to_dgl
from tests.graphs import graph, random_graph, to_sparse


def dense_adjacency(g):
    a = np.zeros((g.num_vertices, g.num_vertices))
    a[g.edges[1], g.edges[0]] = 1
    return a


def test_a_gcn_layer_equals_the_dense_matrix_formula():
    g = random_graph()
    model = GCN(Shape(6, 3), hidden=5).eval()
    looped = dense_adjacency(g) + np.eye(g.num_vertices)
    scale = np.diag(looped.sum(1) ** -0.5)
    w, b = (p.detach().double().numpy() for p in (model.projections[0].weight, model.projections[0].bias))
    expected = scale @ looped @ scale @ g.features @ w + b
    found = model.step(0, inputs_of(g), inputs_of(g).features).detach().numpy()
    assert np.allclose(found, expected, atol=1e-5)


def test_a_gcn_layer_that_widens_gives_the_same_as_one_that_sends_the_wide_matrix():
    g = random_graph(columns=3)
    model = GCN(Shape(3, 2), hidden=7).eval()
    x = inputs_of(g).features
    wide = model.projections[0]
    norm = inputs_of(g).symmetric_norm()
    a = torch.zeros(g.num_vertices, g.num_vertices)
    u, v = inputs_of(g).looped.edges()
    a[v, u] = norm
    assert torch.allclose(model.step(0, inputs_of(g), x), a @ (x @ wide.weight) + wide.bias, atol=1e-5)


def test_arc_weights_of_a_gcn_are_normalised_by_their_own_sums():
    g = graph([(0, 1)], np.eye(2, dtype=np.float32))
    inputs = inputs_of(g)
    u, v = (ends.tolist() for ends in inputs.looped.edges())
    given = {(0, 1): 2.0, (1, 0): 1.0, (0, 0): 1.0, (1, 1): 3.0}
    moved = inputs.moved(inputs.features, torch.tensor([given[arc] for arc in zip(u, v, strict=True)]))
    out, into = {0: 3.0, 1: 4.0}, {0: 2.0, 1: 5.0}
    expected = [given[a, b] / (out[a] * into[b]) ** 0.5 for a, b in zip(u, v, strict=True)]
    assert torch.allclose(moved.symmetric_norm(), torch.tensor(expected))


def test_a_graphsage_layer_equals_the_dense_formula_and_an_isolated_vertex_has_a_zero_neighbourhood():
    g = random_graph()
    a = dense_adjacency(g)
    mean = a / np.maximum(a.sum(1, keepdims=True), 1)
    for hidden in (3, 9):  # narrower and wider than the features
        model = GraphSAGE(Shape(6, 3), hidden=hidden).eval()
        own, neighbours = model.own[0], model.neighbours[0]
        w, n = own.weight.detach().numpy(), neighbours.weight.detach().numpy()
        expected = g.features @ w + mean @ g.features @ n + own.bias.detach().numpy()
        assert np.allclose(model.step(0, inputs_of(g), inputs_of(g).features).detach(), expected, atol=1e-5)
    assert mean[-1].sum() == 0


def test_a_gat_layer_equals_the_loop_over_arcs():
    g = random_graph()
    layer = GAT(Shape(6, 3), hidden=4, heads=2).attention[0].eval()
    x = torch.from_numpy(g.features)
    sent = torch.einsum("ni,iho->nho", x, layer.weight)
    looped = dense_adjacency(g) + np.eye(g.num_vertices)
    expected = torch.zeros(g.num_vertices, 2, 4)
    for j in range(g.num_vertices):
        into = np.flatnonzero(looped[j])
        e = (sent[into] * layer.source).sum(-1) + (sent[j] * layer.target).sum(-1)
        weight = torch.softmax(torch.nn.functional.leaky_relu(e, 0.2), dim=0)
        expected[j] = (weight[:, :, None] * sent[into]).sum(0)
    assert torch.allclose(layer(inputs_of(g).looped, x), expected + layer.bias, atol=1e-5)


@pytest.mark.parametrize("outputs", [3, None])
def test_exact_inference_of_graphsage_in_batches_equals_the_whole_graph_at_once(outputs):
    for sparse in (False, True):
        g = random_graph(n=40, columns=40, edges=90, sparse=sparse)
        model = GraphSAGE(Shape(40, outputs), hidden=8, layers=3).eval()
        whole, batched = model(inputs_of(g)), model.infer(inputs_of(g), batch=7)
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(whole, batched, strict=True))


@pytest.mark.parametrize("name", ["gcn", "graphsage", "gat", "graph-mlp", "mlp"])
def test_sparse_and_dense_features_give_the_same_result(name):
    g = random_graph(n=30, columns=64, edges=60, sparse=True)
    sparse = SparseMatrix(g.features)
    model = backbones.get(name)(Shape(64, 3), hidden=8).eval()
    one = model(Inputs(sparse, to_dgl(g)))[1]
    other = model(Inputs(sparse.dense(), to_dgl(g)))[1]
    assert torch.allclose(one, other, atol=1e-5)


def test_a_sparse_product_and_its_gradients_equal_the_dense_ones():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((9, 40)) < 0.1, rng.random((9, 40)), 0).astype(np.float32)
    dense[4] = 0
    weight = torch.randn(40, 5, requires_grad=True)
    sparse = SparseMatrix(to_sparse(dense))
    values = sparse.values.clone().requires_grad_(True)
    x = torch.from_numpy(dense).requires_grad_(True)
    coefficients = torch.randn(9, 5)
    (sparse.with_values(values) @ weight * coefficients).sum().backward()
    by_sparse, weight.grad = weight.grad.clone(), None
    ((x @ weight) * coefficients).sum().backward()
    assert torch.allclose(by_sparse, weight.grad, atol=1e-5)
    assert torch.allclose(values.grad, x.grad[dense != 0], atol=1e-5)
    moved = sparse.with_values(2 * sparse.values)
    assert torch.allclose(moved @ weight, 2 * x @ weight, atol=1e-5)
    rows = torch.tensor([4, 1, 1])
    assert torch.allclose(sparse.take(rows) @ weight, x[rows] @ weight, atol=1e-5)


def test_features_go_the_sparse_way_only_where_that_is_cheaper():
    few = np.zeros((50, 100), dtype=np.float32)
    few[:, 0] = 1
    assert isinstance(to_matrix(to_sparse(few)), SparseMatrix)
    assert isinstance(to_matrix(to_sparse(np.ones((50, 100), dtype=np.float32))), torch.Tensor)
    assert isinstance(to_matrix(to_sparse(few[:, :8])), torch.Tensor)
    # Weighting rows costs more than adding them: at 10 % only ones are worth it.
    tenth = np.where(np.arange(100) % 10 == 0, np.ones((50, 100)), 0).astype(np.float32)
    assert isinstance(to_matrix(to_sparse(tenth)), SparseMatrix)
    assert isinstance(to_matrix(to_sparse(0.5 * tenth)), torch.Tensor)


def test_the_inputs_of_a_graph_are_made_once():
    g = random_graph()
    assert inputs_of(g) is inputs_of(g)
