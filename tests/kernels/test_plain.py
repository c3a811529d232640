"""Torch's operations on a device without numbers: nothing is made on the CPU, and every shape is right.

Values and gradients are held to dense matrices in `test_kernels`.
"""

from __future__ import annotations

import pytest
import torch

from lgl_bench import kernels
from lgl_bench.kernels import Arcs

BLOCK = Arcs(torch.tensor([0, 2, 2, 5]), torch.tensor([4, 1, 0, 4, 3], dtype=torch.int32), 5).to("meta")
NOTHING = Arcs(torch.zeros(4, dtype=torch.int64), torch.empty(0, dtype=torch.int32), 5).to("meta")


@pytest.mark.parametrize("arcs", [BLOCK, NOTHING], ids=["a block", "no arcs"])
def test_every_kernel_has_its_shape_and_gradients_on_another_device(arcs):
    h = torch.empty(5, 12, device="meta", requires_grad=True)
    weights = torch.empty(arcs.num_arcs, device="meta", requires_grad=True)
    for found, shape in (
        (kernels.neighbour_sum(arcs, h), (3, 12)),
        (kernels.neighbour_mean(arcs, h), (3, 12)),
        (kernels.weighted_sum(arcs, h, weights), (3, 12)),
        (kernels.attention(arcs, h, 2), (3, 8)),
        (kernels.attention(arcs, h, 3, dropped=9000), (3, 6)),
        (kernels.dropout(h, 9000), (5, 12)),
        (kernels.dropout(h, 9000, relu=True), (5, 12)),
    ):
        assert found.device.type == "meta" and found.shape == shape and found.dtype == torch.float32
        (grad,) = torch.autograd.grad(found.sum(), h)
        assert grad.device.type == "meta" and grad.shape == h.shape
    (grad,) = torch.autograd.grad(kernels.weighted_sum(arcs, h, weights).sum(), weights)
    assert grad.shape == weights.shape


def test_a_matrix_is_scaled_in_its_place_on_another_device():
    matrix = torch.empty(4, 4, device="meta")
    kernels.scale_by_ends(matrix, torch.empty(4, device="meta"))
    assert matrix.shape == (4, 4)
