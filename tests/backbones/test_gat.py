from __future__ import annotations

import numpy as np
import torch

from lgl_bench.backbones import Shape
from lgl_bench.backbones.gat import GAT
from lgl_bench.backbones.layers.inputs import inputs_of
from tests.support.graphs import dense_adjacency, random_graph


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
    assert torch.allclose(layer(inputs_of(g).looped, x), (expected + layer.bias).flatten(1), atol=1e-5)
