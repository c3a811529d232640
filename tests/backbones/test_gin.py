from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones.gin import SumLayer
from lgl_bench.backbones.layers.inputs import inputs_of
from tests.support.backbones import BackboneTests, disturbed, hold_to_formula, linear, numbers, relu
from tests.support.graphs import dense_adjacency, graph, random_graph


class TestGIN(BackboneTests):
    name = "gin"

    def formula(self, model, g):
        h, found = g.features, []
        for layer in model.convolutions:
            h = (1 + numbers(layer.eps)) * h + dense_adjacency(g) @ h
            h = linear(layer.first, h)
            norm = layer.norm
            h = (h - numbers(norm.running_mean)) / np.sqrt(numbers(norm.running_var) + norm.eps)
            h = linear(layer.second, relu(h * numbers(norm.weight) + numbers(norm.bias)))
            found.append(h)
            h = relu(h)
        return relu(found[-2]), found[-1]

    def make(self, outputs=3, columns=6, **parameters):
        """With statistics as a fit leaves them."""
        model = super().make(outputs, columns, **parameters)
        for layer in model.convolutions:
            layer.norm.running_mean += 0.3
            layer.norm.running_var *= 1.7
        return model

    @pytest.mark.parametrize("hidden", [3, 9])  # narrower and wider than the features
    def test_any_width_and_depth_follows_the_formula(self, hidden):
        hold_to_formula(self, 3, hidden=hidden, layers=3)

    def test_the_sum_over_a_path_worked_by_hand(self):
        # 0 - 1 and the isolated 2, eps = 0.5: 1.5 * 2 + 4, 1.5 * 4 + 2, 1.5 * 7.
        inputs = inputs_of(graph([(0, 1)], np.array([[2.0], [4.0], [7.0]], dtype=np.float32)))
        layer = SumLayer(1, 1, 1)
        with torch.no_grad():
            layer.eps.fill_(0.5)
            for weights in (None, torch.ones(inputs.looped.num_arcs)):
                found = layer._sum(inputs.moved(inputs.features, weights), inputs.features)
                assert found.flatten().tolist() == pytest.approx([7, 8, 10.5])

    def test_statistics_are_learned_in_training_and_frozen_at_evaluation(self):
        inputs, model = inputs_of(random_graph()), self.make()
        before = {name: value.clone() for name, value in model.named_buffers()}
        model.eval()(inputs)
        assert all(torch.equal(value, before[name]) for name, value in model.named_buffers())
        model.train()(inputs)
        assert not any(torch.equal(value, before[name]) for name, value in model.named_buffers())

    def test_the_answer_for_a_vertex_at_evaluation_does_not_depend_on_vertices_it_is_not_joined_to(self):
        model = disturbed(self.make()).eval()
        x = random_graph().features
        one, other = x.copy(), x.copy()
        other[5:] = 9.0
        edges = [(0, 1), (1, 2), (5, 6)]
        found = [numbers(model(inputs_of(graph(edges, features)))[1][:5]) for features in (one, other)]
        assert found[0] == pytest.approx(found[1], abs=1e-6)

    def test_statistics_survive_growth_and_are_among_what_is_saved(self):
        model = self.make()
        model.train()(inputs_of(random_graph()))
        before = {name: value.clone() for name, value in model.named_buffers()}
        model.grow(5)
        after = model.state_dict()
        assert len(before) == 3 * 2
        assert all(torch.equal(after[name], value) for name, value in before.items())
