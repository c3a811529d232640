from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from lgl_bench.backbones import ParameterGroup
from lgl_bench.training.optimiser import Optimiser
from tests.support.trained import small_model


def stepped(model, optimiser, epochs=3):
    """The weights after some steps along gradients of ones."""
    for epoch in range(1, epochs + 1):
        optimiser.zero_grad()
        for weight in model.parameters():
            weight.grad = torch.ones_like(weight)
        optimiser.step(epoch) if isinstance(optimiser, Optimiser) else optimiser.step()
    return [weight.detach().clone() for weight in model.parameters()]


def test_without_groups_it_is_adam_bit_for_bit():
    model = small_model()
    other = copy.deepcopy(model)
    found = stepped(model, Optimiser(model, 0.01, 10))
    plain = stepped(other, torch.optim.Adam(other.parameters(), lr=0.01, fused=True))
    assert all(torch.equal(one, two) for one, two in zip(found, plain, strict=True))


def grouped(model, monkeypatch, **settings):
    """The weight of the first layer in a group of its own."""
    own = model.backbone.projections[0].weight
    monkeypatch.setattr(type(model.backbone), "parameter_groups", lambda self, n: [ParameterGroup((own,), **settings)])
    return own


def test_weight_decay_is_added_to_the_gradients_of_its_group_alone(monkeypatch):
    model = small_model()
    own = grouped(model, monkeypatch, weight_decay=0.5)
    plain, decayed = copy.deepcopy(model), copy.deepcopy(own.detach())
    stepped(model, Optimiser(model, 0.01, 10))
    alone = torch.nn.Parameter(decayed)
    adam = torch.optim.Adam([alone], lr=0.01, weight_decay=0.5, fused=True)
    for _ in range(3):
        alone.grad = torch.ones_like(alone)
        adam.step()
    assert torch.equal(own, alone)
    rest = stepped(plain, torch.optim.Adam(plain.parameters(), lr=0.01, fused=True))[1:]
    assert all(torch.equal(one, two) for one, two in zip(list(model.parameters())[1:], rest, strict=True))


def test_a_group_waits_for_its_first_epoch_and_then_starts_afresh(monkeypatch):
    model = small_model()
    own = grouped(model, monkeypatch, first_epoch=3)
    before = own.detach().clone()
    others = [weight.detach().clone() for weight in model.parameters() if weight is not own]
    optimiser = Optimiser(model, 0.01, 10)
    stepped(model, optimiser, epochs=2)
    assert torch.equal(own, before)
    assert all(not torch.equal(one, weight) for one, weight in zip(others, list(model.parameters())[1:], strict=True))
    stepped(model, optimiser, epochs=3)
    assert (before - own.detach()).numpy() == pytest.approx(np.full(before.shape, 0.01), abs=1e-5)
