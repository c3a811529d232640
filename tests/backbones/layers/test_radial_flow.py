from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers import radial_flow
from lgl_bench.backbones.layers.radial_flow import RadialFlows, log_density


def softplus(x):
    return np.log1p(np.exp(x))


def moved(u, center, a, b):
    a, b = softplus(a), softplus(b) - softplus(a)
    return u + b / (a + np.linalg.norm(u - center)) * (u - center)


def by_hand(z, flows):
    """The log density from the determinant of a numerical Jacobian."""
    centers, a, b = (part.detach().double().numpy() for part in (flows.centers, flows.a, flows.b))
    found = np.zeros((len(z), len(centers)))
    for i, row in enumerate(z):
        for c in range(len(centers)):
            u, change = row, 0.0
            for layer in range(flows.layers):
                arguments = centers[c, layer], a[c, layer], b[c, layer]
                steps = 1e-6 * np.eye(len(u))
                jacobian = [(moved(u + s, *arguments) - moved(u - s, *arguments)) / 2e-6 for s in steps]
                change += math.log(abs(np.linalg.det(np.array(jacobian))))
                u = moved(u, *arguments)
            found[i, c] = change - u @ u / 2 - len(u) / 2 * math.log(2 * math.pi)
    return found


def test_densities_are_those_of_the_formula_with_a_numerical_jacobian():
    torch.manual_seed(0)
    flows = RadialFlows(classes=3, width=4, layers=5).double()
    z = np.random.default_rng(0).normal(size=(6, 4))
    with torch.no_grad():
        assert flows(torch.tensor(z)).numpy() == pytest.approx(by_hand(z, flows), abs=1e-6)


def test_one_layer_worked_by_hand():
    # softplus(x) = log 2 and log 4 for x = 0 and log 3: a = log 2, b = log 4 - log 2 = log 2. In one dimension, center
    # 0 and z = log 2: h = 1 / (2 log 2), u = log 2 + log 2 / 2, and the change is log(1 + 1/4).
    flow = torch.zeros(1, 1, 1), torch.tensor([[0.0]]), torch.tensor([[math.log(3)]])
    found = log_density(torch.tensor([[math.log(2)]]), *flow)
    u = 1.5 * math.log(2)
    assert found.item() == pytest.approx(math.log(1.25) - u * u / 2 - math.log(2 * math.pi) / 2, abs=1e-6)


def test_a_density_integrates_to_one():
    torch.manual_seed(1)
    flows = RadialFlows(classes=2, width=1, layers=4)
    grid = torch.linspace(-30, 30, 60_001)[:, None]
    with torch.no_grad():
        assert (flows(grid).double().exp().sum(dim=0) * 0.001).tolist() == pytest.approx([1.0, 1.0], abs=1e-3)


def test_growing_leaves_the_densities_of_known_classes_alone():
    torch.manual_seed(2)
    flows, z = RadialFlows(classes=2, width=3, layers=2), torch.randn(5, 3)
    before = flows(z)
    flows.grow(4)
    after = flows(z)
    assert after.shape == (5, 4) and torch.equal(after[:, :2], before)


def test_computed_part_by_part_densities_and_gradients_are_the_same(monkeypatch):
    torch.manual_seed(3)
    flows, z = RadialFlows(classes=5, width=3, layers=4), torch.randn(7, 3)

    def computed():
        given = z.clone().requires_grad_(True)
        found = flows(given)
        return [found, *torch.autograd.grad(found.sin().sum(), [given, *flows.parameters()])]

    whole = computed()
    monkeypatch.setattr(radial_flow, "_AT_ONCE", 45)  # two classes at once
    assert all(torch.allclose(one, two, atol=1e-6) for one, two in zip(whole, computed(), strict=True))


def test_at_the_center_of_a_flow_gradients_are_finite():
    flows = RadialFlows(classes=1, width=2, layers=1)
    z = flows.centers.detach()[:, 0].clone().requires_grad_(True)
    flows(z).sum().backward()
    assert torch.isfinite(z.grad).all() and torch.isfinite(flows.centers.grad).all()
