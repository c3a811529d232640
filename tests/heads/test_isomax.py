from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.heads import heads
from lgl_bench.heads.isomax import IsoMaxPlus, unit_distances


def isomax(scale=1.0):
    head = IsoMaxPlus(2, 2)
    head.prototypes.data = torch.tensor([[2.0, 0.0], [0.0, 0.5]])
    head.distance_scale.data = torch.tensor([scale])
    return head


# In unit length (1, 0) and (0.6, 0.8); the prototypes are (1, 0) and (0, 1) in unit length.
Z = torch.tensor([[5.0, 0.0], [3.0, 4.0]])
DISTANCES = [[0.0, math.sqrt(2)], [math.sqrt(0.16 + 0.64), math.sqrt(0.36 + 0.04)]]


def test_isomax_logits_are_negative_scaled_distances_between_unit_vectors():
    assert isomax().distances(Z).flatten().tolist() == pytest.approx(sum(DISTANCES, []), abs=1e-6)
    for scale in (3.0, -3.0):
        expected = [-3 * d for d in sum(DISTANCES, [])]
        assert isomax(scale).logits(Z).flatten().tolist() == pytest.approx(expected, abs=1e-5)


def test_the_entropic_scale_of_10_is_in_the_training_loss_and_nowhere_else():
    def loss(factor):
        rows = [[math.exp(-factor * d) for d in row] for row in DISTANCES]
        return -np.mean([math.log(rows[0][0] / sum(rows[0])), math.log(rows[1][0] / sum(rows[1]))])

    head = isomax()
    assert head.entropic_scale == 10
    assert head.loss(Z, torch.tensor([0, 0])).item() == pytest.approx(loss(10), rel=1e-5)
    plain = [math.exp(-d) for d in DISTANCES[1]]
    for training in (True, False):
        head.train(training)
        assert head.logits(Z)[1].tolist() == pytest.approx([-d for d in DISTANCES[1]], abs=1e-6)
        assert head.probabilities(head.logits(Z))[1].tolist() == pytest.approx(
            [p / sum(plain) for p in plain], rel=1e-5
        )


def test_the_learned_distance_scale_starts_at_1_and_the_prototypes_from_a_standard_normal():
    torch.manual_seed(0)
    head = IsoMaxPlus(50, 60)
    assert head.distance_scale.item() == 1
    assert abs(head.prototypes.mean().item()) < 0.08
    assert abs(head.prototypes.std().item() - 1) < 0.08


def test_tiny_distances_are_exact():
    # Many rows, because torch goes by a matrix product from 25 rows on unless it is told not to.
    step = 2.0**-20
    z = torch.zeros(40, 3)
    z[:, 0], z[:, 1] = 1.0, step
    prototypes = torch.zeros(40, 3)
    prototypes[:, 0] = 1.0
    found = unit_distances(z, prototypes)
    # (1, s) / sqrt(1 + s^2) rounds to (1, s) in single precision, so the distance is s.
    assert torch.equal(found, torch.full((40, 40), step))


@pytest.mark.parametrize(("name", "rows"), [("isomax+", "prototypes"), ("genodin", "directions")])
def test_a_grown_prototype_head_keeps_its_logits_and_appends_rows_from_a_standard_normal(name, rows):
    torch.manual_seed(1)
    head = heads.get(name)(40, 3).eval()
    z = torch.randn(7, 40)
    before, others = head.logits(z), {k: v.clone() for k, v in head.state_dict().items() if k != rows}
    head.grow(60)
    after = head.logits(z)
    assert head.classes == 60
    assert after.shape == (7, 60)
    assert torch.allclose(after[:, :3], before, atol=1e-6)
    assert all(torch.equal(head.state_dict()[key], value) for key, value in others.items())
    fresh = getattr(head, rows)[3:]
    assert abs(fresh.mean().item()) < 0.08
    assert abs(fresh.std().item() - 1) < 0.08
    assert getattr(head, rows).requires_grad
    assert rows in dict(head.named_parameters())


def test_growing_by_nothing_changes_nothing():
    head = isomax()
    head.grow(2)
    assert torch.equal(head.logits(Z), isomax().logits(Z))


def test_the_gradient_of_the_distances_is_that_of_torch_bit_by_bit():
    torch.manual_seed(2)
    z, rows = torch.randn(40, 5, requires_grad=True), torch.randn(30, 5, requires_grad=True)
    weights = torch.randn(40, 30)
    unit = torch.nn.functional.normalize
    of_torch = torch.cdist(unit(z, dim=1), unit(rows, dim=1), compute_mode="donot_use_mm_for_euclid_dist")
    found = unit_distances(z, rows)
    assert torch.equal(found, of_torch)
    for ours, theirs in zip(
        torch.autograd.grad((found * weights).sum(), (z, rows)),
        torch.autograd.grad((of_torch * weights).sum(), (z, rows)),
        strict=True,
    ):
        assert torch.equal(ours, theirs)


def test_the_distances_can_be_differentiated_twice():
    torch.manual_seed(3)
    z, rows = (torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (4, 2))
    assert torch.autograd.gradcheck(unit_distances, (z, rows))
    assert torch.autograd.gradgradcheck(unit_distances, (z, rows))


def test_a_distance_of_zero_has_the_gradient_zero_at_every_order():
    z = torch.tensor([[2.0, 0.0]], requires_grad=True)
    (first,) = torch.autograd.grad(unit_distances(z, torch.tensor([[1.0, 0.0]])).sum(), z, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), z)
    assert first.tolist() == second.tolist() == [[0.0, 0.0]]
