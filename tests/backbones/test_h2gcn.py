from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.errors import UsageError
from tests.support.backbones import BackboneTests, hold_to_formula, linear, numbers, relu
from tests.support.graphs import dense_adjacency, graph, random_graph


def normalised(a: np.ndarray) -> np.ndarray:
    """D^-1/2 A D^-1/2; 0 for a vertex without neighbours."""
    scale = np.where(a.sum(1) > 0, np.maximum(a.sum(1), 1) ** -0.5, 0)
    return scale[:, None] * a * scale


class TestH2GCN(BackboneTests):
    name = "h2gcn"

    def formula(self, model, g):
        a = dense_adjacency(g)
        two = (a @ a > 0) & (a == 0) & ~np.eye(g.num_vertices, dtype=bool)
        found = [relu(linear(model.projections[0], g.features))]
        for _ in range(model.rounds):
            found.append(np.hstack([normalised(a) @ found[-1], normalised(two.astype(float)) @ found[-1]]))
        z = np.hstack(found)
        return z, linear(model.projections[1], z)

    @pytest.mark.parametrize("rounds", [1, 3])
    def test_any_number_of_rounds_follows_the_formula(self, rounds):
        hold_to_formula(self, 3, rounds=rounds)
        hold_to_formula(self, None, rounds=rounds)
        assert self.make(rounds=rounds).width == 5 * {1: 3, 3: 15}[rounds]

    def test_a_round_on_a_star_worked_by_hand(self):
        # 0 is joined to 1, 2 and 3, which are at distance two of each other; 4 is isolated.
        x = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]], dtype=np.float32)
        model = self.make(columns=1, hidden=1, rounds=1).eval()
        model.projections[0].weight.data.fill_(1.0)
        z = numbers(model(inputs_of(graph([(0, 1), (0, 2), (0, 3)], x)))[0])
        root = 3**0.5
        expected = [[1, 9 / root, 0], [2, 1 / root, 3.5], [3, 1 / root, 3], [4, 1 / root, 2.5], [5, 0, 0]]
        assert z == pytest.approx(np.array(expected), abs=1e-5)

    def test_vertices_at_distance_two_are_searched_once_per_graph(self):
        inputs = inputs_of(random_graph())
        assert inputs.two_hops is inputs.two_hops
        assert inputs.moved(inputs.features, None).two_hops is inputs.two_hops

    @pytest.mark.parametrize("rounds", [0, 7])
    def test_a_number_of_rounds_that_makes_no_sense_is_refused(self, rounds):
        with pytest.raises(
            UsageError, match=f"rounds = {rounds}: at least one round is needed, and at most 6 are made"
        ):
            self.make(rounds=rounds)
