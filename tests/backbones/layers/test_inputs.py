from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import Inputs, inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.backbones.walks.sampled import NeighbourSampler
from lgl_bench.core.types import Graph, Sparse
from lgl_bench.kernels import arc_ends
from tests.support.graphs import dense_adjacency, graph, random_graph


def with_sparse(g: Graph) -> Inputs:
    """The inputs of a graph, whose sparse features stay so however many of them there are."""
    inputs = inputs_of(g)
    return Inputs(SparseMatrix.of(g.features) if isinstance(g.features, Sparse) else inputs.features, inputs.arcs)


def test_arc_weights_of_a_gcn_are_normalised_by_their_own_sums():
    g = graph([(0, 1)], np.eye(2, dtype=np.float32))
    inputs = inputs_of(g)
    arcs = list(zip(*arc_ends(inputs.looped).tolist(), strict=True))
    given = {(0, 1): 2.0, (1, 0): 1.0, (0, 0): 1.0, (1, 1): 3.0}
    moved = inputs.moved(inputs.features, torch.tensor([given[arc] for arc in arcs]))
    out, into = {0: 3.0, 1: 4.0}, {0: 2.0, 1: 5.0}
    out_of, in_to = moved.degree_scales()
    found = [given[a, b] * out_of[a, 0] * in_to[b, 0] for a, b in arcs]
    assert torch.allclose(torch.stack(found), torch.tensor([given[a, b] / (out[a] * into[b]) ** 0.5 for a, b in arcs]))


def test_without_weights_both_scales_are_those_of_the_number_of_arcs_with_the_loop():
    g = random_graph()
    expected = torch.from_numpy(dense_adjacency(g).sum(1) + 1).float().rsqrt()[:, None]
    for scale in inputs_of(g).degree_scales():
        assert torch.allclose(scale, expected)


def test_weights_that_sum_to_nothing_have_a_finite_scale():
    inputs = inputs_of(random_graph())
    moved = inputs.moved(inputs.features, torch.full((inputs.looped.num_arcs,), -1.0))
    assert all(torch.isfinite(scale).all() for scale in moved.degree_scales())


def test_the_inputs_of_a_graph_are_made_once():
    g = random_graph()
    assert inputs_of(g) is inputs_of(g)


def test_loops_are_added_to_every_vertex_the_isolated_one_too():
    g = random_graph()
    u, v = arc_ends(inputs_of(g).looped)
    found = np.zeros((g.num_vertices, g.num_vertices))
    np.add.at(found, (v, u), 1)
    assert np.array_equal(found, dense_adjacency(g) + np.eye(g.num_vertices))


@pytest.mark.parametrize("sparse", [False, True])
def test_other_libraries_get_the_same_arcs_and_features(sparse):
    g = random_graph(n=30, columns=80, edges=60, sparse=sparse)
    inputs, expected = with_sparse(g), dense_adjacency(g)
    assert np.array_equal(inputs.to_torch_sparse().to_dense().numpy(), expected)

    dgl = pytest.importorskip("dgl")
    found = inputs.to_dgl()
    assert isinstance(found, dgl.DGLGraph) and found.num_nodes() == 30
    assert np.array_equal(np.stack([ends.numpy() for ends in found.edges()]), arc_ends(inputs.arcs))

    pytest.importorskip("torch_geometric")
    data = inputs.to_pyg()
    assert data.num_nodes == 30 and data.is_undirected()
    assert np.array_equal(data.edge_index.numpy(), arc_ends(inputs.arcs))
    assert np.array_equal(data.x.numpy(), g.features.dense() if sparse else g.features)


def all_arcs(inputs: Inputs):
    return [inputs.arcs, *([inputs.looped] if inputs.blocks is None else inputs.blocks)]


@pytest.mark.parametrize("sparse", [False, True])
def test_on_another_device_everything_is_there_with_its_shape(sparse):
    g = random_graph(n=30, columns=80, edges=60, sparse=sparse)
    inputs = with_sparse(g)
    weighted = inputs.moved(inputs.features, torch.ones(inputs.looped.num_arcs))
    _, blocks = NeighbourSampler(inputs.arcs, [3, 2]).sample(np.array([4, 1]))
    for given in (inputs, weighted, dataclasses.replace(inputs, blocks=blocks)):
        found = given.to("meta")
        assert found.features.shape == (30, 80) and found.num_vertices == 30
        for one, other in zip(all_arcs(found), all_arcs(given), strict=True):
            assert one.device.type == "meta"
            assert (one.num_targets, one.num_sources, one.num_arcs) == (
                other.num_targets, other.num_sources, other.num_arcs,
            )  # fmt: skip
        assert (found.weights is None) == (given.weights is None)
        assert [scale.shape for scale in found.degree_scales()] == [(30, 1)] * 2
    assert inputs.to("cpu") is inputs
