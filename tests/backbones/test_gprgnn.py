from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones import Shape
from lgl_bench.backbones.appnp import APPNP
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.errors import UsageError
from tests.support.backbones import BackboneTests, a_hat, hold_to_formula, linear, numbers, relu
from tests.support.graphs import random_graph


class TestGPRGNN(BackboneTests):
    name = "gprgnn"

    def formula(self, model, g):
        z = g.features
        for projection in model.projections[:-1]:
            z = relu(linear(projection, z))
        predicted = linear(model.projections[-1], z)
        powers = [np.linalg.matrix_power(a_hat(g), k) for k in range(model.steps + 1)]
        return z, sum(gamma * power @ predicted for gamma, power in zip(numbers(model.gamma), powers, strict=True))

    def test_other_steps_and_layers_follow_the_formula_too(self):
        hold_to_formula(self, 3, steps=3, layers=3)
        hold_to_formula(self, None, steps=1)

    def test_the_weights_of_two_powers_worked_by_hand(self):
        assert numbers(self.make(steps=2, teleport=0.1).gamma) == pytest.approx([0.1, 0.09, 0.81])
        assert numbers(self.make().gamma).sum() == pytest.approx(1.0) and len(self.make().gamma) == 11

    def test_it_starts_as_appnp(self):
        model = self.make().eval()
        twin = APPNP(Shape(6, 3), hidden=5).eval()
        twin.load_state_dict({name: value for name, value in model.state_dict().items() if name != "gamma"})
        inputs = inputs_of(random_graph())
        assert torch.allclose(model(inputs)[1], twin(inputs)[1], atol=1e-5)

    def test_growing_leaves_the_weights_of_the_powers_alone(self):
        model = self.make()
        before = model.gamma
        model.grow(5)
        assert model.gamma is before

    def test_a_number_of_steps_that_makes_no_sense_is_refused(self):
        with pytest.raises(UsageError, match="steps = 0: at least one step along the arcs is needed"):
            self.make(steps=0)
