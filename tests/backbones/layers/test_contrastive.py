from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers import contrastive
from lgl_bench.backbones.layers.contrastive import Neighbourhood, contrastive_loss
from tests.support.graphs import random_graph


def dense_power(g, power):
    a = np.eye(g.num_vertices)
    a[g.edges[0], g.edges[1]] = 1
    scale = np.diag(a.sum(1) ** -0.5)
    return np.linalg.matrix_power(scale @ a @ scale, power)


def loop(z, gamma, tau):
    """The formula, vertex by vertex."""
    z = z / z.norm(dim=1, keepdim=True)
    total = 0.0
    for i in range(len(z)):
        others = [j for j in range(len(z)) if j != i]
        e = {j: torch.exp(z[i] @ z[j] / tau) for j in others}
        above = sum(gamma[i, j] * e[j] for j in others)
        if above > 0:
            total = total - torch.log(above / sum(e.values()))
    return total / len(z)


@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
def test_the_loss_and_its_gradient_equal_a_dense_loop(tau):
    g = random_graph(n=10, edges=8)
    batch = np.array([3, 0, 9, 7, 5, 1])
    row, col, gamma = (torch.from_numpy(part) for part in Neighbourhood(g, 2).between(batch))
    whole = torch.from_numpy(dense_power(g, 2)[np.ix_(batch, batch)])
    z = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    ours = contrastive_loss(z, row, col, gamma.double(), tau)
    (grad,) = torch.autograd.grad(ours, z)
    expected = loop(z, whole, tau)
    (expected_grad,) = torch.autograd.grad(expected, z)
    assert math.isclose(ours.item(), expected.item(), rel_tol=1e-6)
    assert torch.allclose(grad, expected_grad, atol=1e-6)


def test_a_vertex_without_neighbours_in_the_batch_contributes_nothing():
    z = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    row, col = torch.tensor([0, 1]), torch.tensor([1, 0])
    gamma = torch.tensor([0.5, 0.5])
    s = math.exp(math.sqrt(0.5))
    # Vertices 0 and 1: similarity 0 to each other, sqrt(1/2) to vertex 2, which has no neighbour.
    expected = 2 * -math.log(0.5 * 1 / (1 + s)) / 3
    assert math.isclose(float(contrastive_loss(z, row, col, gamma, 1.0)), expected, rel_tol=1e-6)


@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("limit", [10**9, 40])
def test_neighbourhood_weights_equal_the_dense_power_also_when_computed_in_portions(power, limit, monkeypatch):
    monkeypatch.setattr(contrastive, "_MOST_ENTRIES", limit)
    g = random_graph(n=20, edges=40)
    batch = np.array([19, 2, 7, 11, 0, 5, 3])
    row, col, gamma = Neighbourhood(g, power).between(batch)
    found = np.zeros((7, 7))
    found[row, col] = gamma
    expected = dense_power(g, power)[np.ix_(batch, batch)]
    np.fill_diagonal(expected, 0)
    assert np.allclose(found, expected, atol=1e-6)
