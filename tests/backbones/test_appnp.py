from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.layers.propagation import pagerank
from lgl_bench.core.errors import UsageError
from tests.support.backbones import BackboneTests, a_hat, hold_to_formula, linear, numbers, relu
from tests.support.graphs import graph, random_graph


class TestAPPNP(BackboneTests):
    name = "appnp"

    def formula(self, model, g):
        z = g.features
        for projection in model.projections[:-1]:
            z = relu(linear(projection, z))
        predicted = found = linear(model.projections[-1], z)
        for _ in range(model.steps):
            found = (1 - model.teleport) * a_hat(g) @ found + model.teleport * predicted
        return z, found

    def test_other_steps_teleports_and_layers_follow_the_formula_too(self):
        hold_to_formula(self, 3, steps=3, teleport=0.4, layers=3)
        hold_to_formula(self, None, steps=1, teleport=0.0)

    def test_the_defaults_are_ten_steps_with_a_teleport_of_a_tenth(self):
        assert (self.make().steps, self.make().teleport) == (10, 0.1)

    def test_two_steps_on_a_path_worked_by_hand(self):
        # 0 - 1 and the isolated 2: one step takes half of the mean (3) and half of the own value.
        x = np.array([[2.0], [4.0], [7.0]], dtype=np.float32)
        inputs = inputs_of(graph([(0, 1)], x))
        one, two = (pagerank(inputs, inputs.features, steps, 0.5).flatten().tolist() for steps in (1, 2))
        assert one == pytest.approx([2.5, 3.5, 7]) and two == pytest.approx([2.5, 3.5, 7])

    def test_many_steps_reach_the_limit_of_personalised_pagerank(self):
        g = random_graph()
        inputs = inputs_of(g)
        limit = 0.2 * np.linalg.inv(np.eye(g.num_vertices) - 0.8 * a_hat(g)) @ g.features
        assert numbers(pagerank(inputs, inputs.features, 100, 0.2)) == pytest.approx(limit, abs=1e-5)

    def test_with_a_teleport_of_one_the_edges_make_no_difference(self):
        model = self.make(teleport=1.0).eval()
        one = random_graph()
        other = graph([], one.features)
        assert numbers(model(inputs_of(one))[1]) == pytest.approx(numbers(model(inputs_of(other))[1]), abs=1e-6)

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ({"steps": 0}, "steps = 0: at least one step along the arcs is needed, and at most 1000 are made"),
            ({"teleport": -0.1}, r"teleport = -0.1: it must lie in \[0, 1\]"),
            ({"teleport": 1.5}, r"teleport = 1.5: it must lie in \[0, 1\]"),
            ({"teleport": float("nan")}, r"teleport = nan: it must lie in \[0, 1\]"),
        ],
    )
    def test_parameters_that_make_no_sense_are_refused(self, wrong, said):
        with pytest.raises(UsageError, match=said):
            self.make(**wrong)
