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


def test_attention_logits_are_those_whose_softmax_weighs_the_messages_of_every_layer():
    g = random_graph()
    model = GAT(Shape(6, 3), hidden=4, heads=2).eval()
    inputs = inputs_of(g)
    found = model.attention_logits(inputs)
    assert [tuple(one.shape) for one in found] == [(inputs.looped.num_arcs, 2)] * 2
    h = inputs.features
    for layer, logits in enumerate(found):
        sent = torch.einsum("ni,iho->nho", h, model.attention[layer].weight)
        mixed = torch.zeros_like(sent)
        for j in range(g.num_vertices):
            into = inputs.looped.targets == j
            weight = torch.softmax(logits[into], dim=0)
            mixed[j] = (weight[:, :, None] * sent[inputs.looped.sources[into]]).sum(0)
        expected = model.step(layer, inputs, h)
        mixed = mixed + model.attention[layer].bias
        assert torch.allclose(mixed.mean(1) if layer == 1 else mixed.flatten(1), expected, atol=1e-5)
        h = model.after(layer, expected)


def test_attention_logits_have_gradients_into_the_weights():
    model = GAT(Shape(6, 3), hidden=4, heads=2)
    torch.cat(model.attention_logits(inputs_of(random_graph()))).square().sum().backward()
    assert all(layer.weight.grad.any() and layer.source.grad.any() for layer in model.attention)
