from __future__ import annotations

import pytest
import torch

from lgl_bench.backbones import Shape, mlp
from lgl_bench.backbones.graph_mlp import GraphMLP
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.mlp import MLP
from tests.support.graphs import random_graph


@pytest.mark.parametrize("kind", [MLP, GraphMLP])
@pytest.mark.parametrize("outputs", [3, None])
def test_vertices_answered_a_few_at_a_time_have_the_answers_and_gradients_of_all_at_once(kind, outputs, monkeypatch):
    inputs = inputs_of(random_graph(n=23))
    model = kind(Shape(6, outputs), hidden=5, layers=3).eval()

    def answers():
        x = inputs.features.clone().requires_grad_(True)
        z, output = model(inputs.moved(x, None))
        return z, output, *torch.autograd.grad(output.sin().sum(), [x])

    whole = answers()
    monkeypatch.setattr(mlp, "_ROWS", 4)
    for one, other in zip(whole, answers(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    with torch.no_grad():
        z, output = model(inputs)
    assert torch.allclose(output, whole[1], atol=1e-6) and torch.allclose(z, whole[0], atol=1e-6)
    assert (z is output) == (outputs is None)
