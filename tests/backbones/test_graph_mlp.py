from __future__ import annotations

import pytest
import torch

from lgl_bench.backbones import Shape
from lgl_bench.backbones.graph_mlp import GraphMLP
from lgl_bench.backbones.layers.inputs import inputs_of
from tests.support.graphs import random_graph
from tests.support.walks import data_on


def test_every_step_learns_from_all_training_vertices_where_these_are_few():
    fit, labels = [3, 8, 30], [1, 0, 0]
    data = data_on(random_graph(n=40), fit, labels)
    model = GraphMLP(Shape(6, 2), hidden=4, dropout=0.0, beta=0.0, batch=8)
    output = model(inputs_of(data.graph))[1][fit]
    expected = torch.nn.functional.cross_entropy(output, torch.tensor(labels)).item()
    epoch = model.batches(data)
    for _ in range(20):
        (loss,) = epoch()
        assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_a_draw_without_a_training_vertex_learns_from_the_contrastive_loss_or_not_at_all():
    data = data_on(random_graph(n=40, edges=200), [])
    steps = [len(list(GraphMLP(Shape(6, 2), hidden=4, beta=beta, batch=30).batches(data)())) for beta in (1.0, 0.0)]
    assert steps == [1, 0]
