from __future__ import annotations

import pytest
import torch

from lgl_bench.backbones import Shape
from lgl_bench.backbones.gcn import GCN
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.walks.full import full_batch
from tests.support.graphs import random_graph
from tests.support.walks import data_on


def test_an_epoch_is_one_step_with_the_loss_of_all_training_vertices_under_the_weights_of_the_moment():
    data = data_on(random_graph(), [2, 5, 7], [1, 0, 2])
    model = GCN(Shape(6, 3), hidden=4).eval()
    epoch = full_batch(model, data)
    for _ in range(2):
        (loss,) = epoch()
        expected = torch.nn.functional.cross_entropy(
            model(inputs_of(data.graph))[1][[2, 5, 7]], torch.tensor([1, 0, 2])
        )
        assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
        with torch.no_grad():
            model.projections[0].weight += 1.0
