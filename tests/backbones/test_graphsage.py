from __future__ import annotations

import numpy as np

from lgl_bench.backbones import Shape
from lgl_bench.backbones.graphsage import GraphSAGE
from lgl_bench.backbones.layers.inputs import inputs_of
from tests.support.graphs import dense_adjacency, random_graph


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
