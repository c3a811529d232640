from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones import sgc
from lgl_bench.backbones.layers.inputs import Inputs, inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.core.errors import UsageError
from tests.support.backbones import BackboneTests, a_hat, hold_to_formula, linear, numbers
from tests.support.graphs import graph, random_graph, to_sparse
from tests.support.walks import data_on


class TestSGC(BackboneTests):
    name = "sgc"

    def formula(self, model, g):
        z = np.linalg.matrix_power(a_hat(g), model.steps) @ g.features
        return z, linear(model.projection, z)

    @pytest.mark.parametrize("outputs", [3, None])
    def test_any_number_of_steps_is_that_power_of_the_matrix(self, outputs):
        for steps in (1, 5):
            hold_to_formula(self, outputs, steps=steps)

    def test_smoothed_features_of_a_path_worked_by_hand(self):
        # 0 - 1 and the isolated 2: A_hat is 1/2 everywhere between 0 and 1, and 1 at 2.
        inputs = inputs_of(graph([(0, 1)], np.array([[2.0], [4.0], [7.0]], dtype=np.float32)))
        for steps in (1, 2):
            assert sgc.smoothed(inputs, inputs.features, steps).flatten().tolist() == pytest.approx([3, 3, 7])

    @pytest.mark.parametrize("sparse", [False, True])
    def test_columns_smoothed_a_few_at_a_time_are_those_of_all_at_once(self, sparse, monkeypatch):
        g = random_graph(n=30, columns=10, edges=60, sparse=True)
        features = SparseMatrix.of(g.features) if sparse else SparseMatrix.of(g.features).dense()
        inputs = Inputs(features, inputs_of(g).arcs)
        monkeypatch.setattr(sgc, "_COLUMNS", 4)
        expected = a_hat(g) @ a_hat(g) @ g.features.dense()
        assert numbers(sgc.smoothed(inputs, features, 2)) == pytest.approx(expected, abs=1e-5)

    def test_dense_features_are_smoothed_once_per_fit_whatever_the_number_of_epochs(self, monkeypatch):
        data = data_on(random_graph(), [0, 3, 5], [0, 1, 2])
        calls = []
        propagate = sgc.propagate
        monkeypatch.setattr(sgc, "propagate", lambda *given: (calls.append(1), propagate(*given))[1])
        epoch = self.make().batches(data)
        for _ in range(4):
            (loss,) = epoch()
            loss.backward()
        assert len(calls) == 1

    @pytest.mark.parametrize("outputs", [3, None])
    @pytest.mark.parametrize("sparse", [False, True])
    def test_a_step_of_training_has_the_loss_and_gradients_of_a_forward_pass(self, sparse, outputs):
        dense = np.where(np.random.default_rng(0).random((12, 300)) < 0.05, 1, 0).astype(np.float32)
        g = graph([(0, 1), (1, 2), (3, 4)], to_sparse(dense) if sparse else dense)
        assert isinstance(inputs_of(g).features, SparseMatrix) == sparse
        fit, labels = [0, 3, 5], [0, 1, 2]
        model = self.make(outputs, columns=300)
        (loss,) = model.batches(data_on(g, fit, labels))()
        expected = torch.nn.functional.cross_entropy(model(inputs_of(g))[1][fit], torch.tensor(labels))
        assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
        gradients = [torch.autograd.grad(one, list(model.parameters())) for one in (loss, expected)]
        for one, other in zip(*gradients, strict=True):
            assert torch.allclose(one, other, atol=1e-6)

    @pytest.mark.parametrize("steps", [0, -1, 1001])
    def test_a_number_of_steps_that_makes_no_sense_is_refused(self, steps):
        with pytest.raises(UsageError, match=rf"steps = {steps}: at least one step along the arcs is needed"):
            self.make(steps=steps)
