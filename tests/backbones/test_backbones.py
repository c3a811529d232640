from __future__ import annotations

import pytest
import torch

from lgl_bench.backbones import Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.streams.tensors import to_dgl
from tests.support.graphs import random_graph


@pytest.mark.parametrize("name", ["gcn", "graphsage", "gat", "graph-mlp", "mlp"])
def test_sparse_and_dense_features_give_the_same_result(name):
    g = random_graph(n=30, columns=64, edges=60, sparse=True)
    sparse = SparseMatrix(g.features)
    model = backbones.get(name)(Shape(64, 3), hidden=8).eval()
    one = model(Inputs(sparse, to_dgl(g)))[1]
    other = model(Inputs(sparse.dense(), to_dgl(g)))[1]
    assert torch.allclose(one, other, atol=1e-5)
