from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.block import Block


def block(device="cpu"):
    """Target 0 reads places 1 and 3, target 1 nothing, target 2 itself."""
    made = Block(np.array([0, 2, 2, 3]), np.array([1, 3, 2]), 4)
    return made if device == "cpu" else made.to(device)


# "cpu:0" takes the way of other devices, on the one that is always there
@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_a_target_gets_the_mean_of_what_it_reads_and_zero_where_it_reads_nothing(device):
    h = torch.tensor([[1.0, 0.0], [2.0, 4.0], [5.0, 6.0], [4.0, 0.0]], requires_grad=True)
    found = block(device).mean(h)
    assert found.tolist() == [[3.0, 2.0], [0.0, 0.0], [5.0, 6.0]]
    (found * torch.tensor([[1.0, 2.0], [10.0, 10.0], [3.0, 4.0]])).sum().backward()
    assert h.grad.tolist() == [[0.0, 0.0], [0.5, 1.0], [3.0, 4.0], [0.5, 1.0]]


def test_targets_are_counted():
    assert block().targets == 3 and block().read == 4
