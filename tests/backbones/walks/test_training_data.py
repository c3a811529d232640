from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.backbones.walks.sampled import NeighbourSampler
from lgl_bench.core.errors import PluginError
from lgl_bench.kernels import arc_ends, neighbour_mean
from tests.support.graphs import graph, random_graph
from tests.support.walks import data_on

SQUARE = graph([(0, 1), (1, 2), (2, 3), (3, 0)], np.arange(4, dtype=np.float32)[:, None])


def arcs(inputs):
    return sorted(zip(*arc_ends(inputs.arcs).tolist(), strict=True))


def test_the_loss_is_the_heads_loss_of_the_labels_of_the_vertices():
    data = data_on(SQUARE, [0, 3], [1, 0])
    output = torch.tensor([[0.0, 2.0], [1.0, 0.5]])
    expected = torch.nn.functional.cross_entropy(output, torch.tensor([0, 1]))
    assert torch.equal(data.loss(output, torch.tensor([3, 0])), expected)


def test_a_vertex_that_is_not_trained_on_has_no_loss():
    with pytest.raises(PluginError, match="not trained on"):
        data_on(SQUARE, [0, 3]).loss(torch.zeros(2, 2), torch.tensor([3, 1]))


def test_the_whole_graph_is_the_one_that_models_read():
    assert data_on(SQUARE, [0]).whole() is inputs_of(SQUARE)


def test_rows_hold_the_features_of_the_vertices_and_no_arcs_unless_blocks_were_sampled():
    data = data_on(SQUARE, [0])
    plain = data.rows(torch.tensor([3, 1]))
    assert plain.features.tolist() == [[3.0], [1.0]]
    assert plain.num_vertices == 2 and not arcs(plain) and plain.blocks is None
    read, blocks = NeighbourSampler(inputs_of(SQUARE).arcs, [2]).sample(np.array([1]))
    sampled = data.rows(torch.from_numpy(read), blocks)
    assert sampled.features.flatten().tolist() == [1.0, 0.0, 2.0]
    assert neighbour_mean(sampled.block(0), sampled.features).tolist() == [[1.0]]


def test_a_subgraph_keeps_the_order_of_the_vertices_and_the_arcs_between_them():
    found = data_on(SQUARE, [0]).subgraph(torch.tensor([2, 0, 1]))
    assert found.features.flatten().tolist() == [2.0, 0.0, 1.0]
    assert arcs(found) == [(0, 2), (1, 2), (2, 0), (2, 1)]


def test_sparse_features_stay_sparse():
    g = random_graph(n=30, columns=64, edges=60, sparse=True)
    data = data_on(g, [0])
    kind = type(inputs_of(g).features)
    for found in (data.rows(torch.tensor([4, 9])), data.subgraph(torch.tensor([4, 9]))):
        dense = found.features.dense() if isinstance(found.features, SparseMatrix) else found.features
        assert isinstance(found.features, kind)
        assert np.array_equal(dense.numpy(), g.features.dense()[[4, 9]])
