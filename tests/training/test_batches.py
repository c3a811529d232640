from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lgl_bench.backbones import Shape
from lgl_bench.backbones.mlp import MLP
from lgl_bench.core.errors import PluginError
from lgl_bench.training.batches import training_data, walk
from lgl_bench.training.model import build_model
from tests.support.graphs import random_graph, task_on
from tests.support.walks import data_on


class Walker(MLP):
    """A backbone that walks as it is told to."""

    def __init__(self, returned):
        super().__init__(Shape(6, 3), hidden=4)
        self.returned = returned

    def batches(self, data):
        return self.returned


def test_a_backbone_sees_the_labels_of_the_training_vertices_and_no_others():
    labels = np.arange(12) % 3
    task = task_on(random_graph(), labels, np.array([1, 4, 8]), np.array([2, 1]))
    task = replace(task, train=replace(task.train, labels=labels), fit_mask=np.isin(np.arange(12), [1, 4, 8]))
    data = training_data(build_model("gcn", "softmax", 6, task.known, {}), task)
    assert data.vertices.tolist() == [1, 4, 8]
    assert {vertex: column for vertex, column in enumerate(data.labels.tolist()) if column >= 0} == {1: 1, 4: 1, 8: 0}
    assert data.graph is task.train.graph


@pytest.mark.parametrize("returned", [iter([torch.ones(())]), None, [torch.ones(())]])
def test_a_walk_that_can_be_made_only_once_is_refused(returned):
    with pytest.raises(PluginError, match="Walker.*must return a function that yields the losses of one epoch"):
        walk(Walker(returned), data_on(random_graph(), [0]))


@pytest.mark.parametrize(
    "loss", [1.5, torch.ones(3, requires_grad=True), torch.ones(()), (torch.ones(()), torch.ones(()))]
)
def test_a_step_that_yields_no_single_loss_with_a_gradient_is_refused(loss):
    with pytest.raises(PluginError, match="Walker.*one number with a gradient"):
        list(walk(Walker(lambda: iter([loss])), data_on(random_graph(), [0]))())


def test_an_epoch_may_have_any_number_of_steps():
    weight = torch.ones((), requires_grad=True)
    for count in (0, 1, 3):
        epoch = walk(Walker(lambda count=count: (weight * 2 for _ in range(count))), data_on(random_graph(), [0]))
        assert [len(list(epoch())) for _ in range(2)] == [count, count]
