from __future__ import annotations

import numpy as np
import torch

from lgl_bench.backbones import Shape
from lgl_bench.backbones.gcn import GCN
from lgl_bench.backbones.layers.inputs import inputs_of
from tests.support.graphs import dense_adjacency, random_graph


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
    looped = torch.from_numpy(dense_adjacency(g) + np.eye(g.num_vertices)).float()
    scale = looped.sum(1).rsqrt()
    a = scale[:, None] * looped * scale
    assert torch.allclose(model.step(0, inputs_of(g), x), a @ (x @ wide.weight) + wide.bias, atol=1e-5)
