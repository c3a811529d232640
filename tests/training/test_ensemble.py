from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from lgl_bench.core.types import Outputs
from lgl_bench.heads.softmax import Softmax
from lgl_bench.training.ensemble import EnsembleModel, build_members, log_mean_probabilities
from lgl_bench.training.model import Model, predict_once
from tests.support.stubs import points
from tests.support.trained import small_case, small_model


class Told(Model):
    """A model that gives every graph the same probabilities."""

    def __init__(self, *probabilities):
        nn.Module.__init__(self)
        self.known, self._answers = np.array([4, 7]), {}
        self.head = Softmax(2, 2)
        self.logits = torch.tensor(probabilities).log()

    def outputs(self, graph):
        return Outputs(self.logits, self.logits)


def pair():
    """Two members that are both sure of the first vertex, and of opposite opinions on the second."""
    return EnsembleModel([Told([0.9, 0.1], [0.8, 0.2]), Told([0.7, 0.3], [0.1, 0.9])])


def test_probabilities_are_the_mean_of_the_members():
    assert pair().probabilities(points(2)) == pytest.approx(np.array([[0.8, 0.2], [0.45, 0.55]]))


def test_the_softmax_of_its_logits_is_that_mean():
    found = torch.softmax(pair().outputs(points(2)).logits, dim=1)
    assert found.numpy() == pytest.approx(np.array([[0.8, 0.2], [0.45, 0.55]]))


def test_the_class_is_that_of_the_mean_and_not_of_the_first_member():
    model = pair()
    assert model.predict(points(2)).tolist() == [4, 7]
    assert model.parts[0].predict(points(2)).tolist() == [4, 4]


def test_members_that_are_sure_of_opposite_classes_leave_finite_logs():
    sure = torch.tensor([[2000.0, 0.0], [2000.0, 0.0]], dtype=torch.float64)
    found = log_mean_probabilities([sure, sure[:, [1, 0]]])
    assert found.exp().numpy() == pytest.approx(np.full((2, 2), 0.5))
    assert torch.isfinite(log_mean_probabilities([sure, sure])).all()


def test_its_weights_are_those_of_its_members_and_come_back():
    members = [small_model(seed=seed) for seed in range(3)]
    model = EnsembleModel(members)
    shape = "gcn", "softmax", 6, np.arange(3), {"hidden": 5}
    again = build_members(3, *shape)
    again.load_state_dict(model.state_dict())
    _, g, _ = small_case()
    assert len(model.state_dict()) == 3 * len(members[0].state_dict())
    assert np.array_equal(again.eval().probabilities(g), model.probabilities(g))
    assert type(build_members(1, *shape)) is Model


def test_it_is_copied_and_sent_as_a_whole():
    model, (_, g, _) = EnsembleModel([small_model(seed=seed) for seed in range(2)]), small_case()
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.probabilities(g), model.probabilities(g))
        assert again.parts[0] is not model.parts[0]


def test_a_graph_that_is_asked_for_once_is_remembered_by_no_member():
    model, (_, g, _) = EnsembleModel([small_model(seed=seed) for seed in range(2)]), small_case()
    predict_once(model, g)
    assert [len(part._answers) for part in model.parts] == [0, 0]
    model.predict(g)
    predict_once(model, g)
    assert [len(part._answers) for part in model.parts] == [1, 1]


def test_all_members_grow_by_the_classes_that_become_known():
    model, (_, g, _) = EnsembleModel([small_model(seed=seed) for seed in range(2)]), small_case()
    model.grow(np.arange(4))
    assert model.known.tolist() == [0, 1, 2, 3] and model.probabilities(g).shape == (g.num_vertices, 4)
