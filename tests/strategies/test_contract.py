from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import TrainingParameters
from lgl_bench.strategies import EMPTY, FitView, Strategy, strategies
from tests.support.strategies import fit_task, no_edges

TASK = fit_task(no_edges(np.eye(4)), [0, 1, 0, 1], [2, 3], [0], positions=[10, 11, 15, 16])


def test_remembered_vertices_have_their_positions_and_the_labels_on_offer():
    memory = TASK.remember(np.array([3, 0, 1, 3]))
    assert memory.vertices.tolist() == [10, 11, 16]
    assert memory.labels.tolist() == [0, -1, 1]  # the label of 1 is not on offer
    assert memory.edges is None and memory.arrays == {}


def test_arcs_and_arrays_are_kept_with_them():
    memory = TASK.remember([0, 2], [[0, 2], [2, 0]], counts=np.array([1, 2]))
    assert memory.edges.tolist() == [[10, 15], [15, 10]]
    assert memory.arrays["counts"].tolist() == [1, 2]


def test_nothing_can_be_remembered():
    assert not TASK.remember([])


@pytest.mark.parametrize("vertices", [[4], [-1], [0, 99]])
def test_a_vertex_that_is_not_there_is_refused_with_the_number_of_those_that_are(vertices):
    with pytest.raises(PluginError, match="remember: vertices from .* of 4"):
        TASK.remember(vertices)


@pytest.mark.parametrize("vertices", [np.array([True, False, True, False]), np.array([0.5])])
def test_a_mask_or_fractions_are_refused(vertices):
    with pytest.raises(PluginError, match="must be whole numbers"):
        TASK.remember(vertices)


def test_other_arrays_with_the_same_vertices():
    memory = TASK.remember([0, 3])
    again = memory.with_arrays({"fits": np.array([2])})
    assert again.vertices is memory.vertices and again.arrays["fits"].tolist() == [2]


class Smallest(Strategy):
    def select(self, task, memory, seed):
        return FitView(task.labelled)


def test_what_need_not_be_written_does_nothing():
    strategy = Smallest()
    assert strategy.begin(None, None, EMPTY) is None
    assert strategy.penalty(None, None) == 0
    assert strategy.after_backward(None) is None
    assert strategy.end(None, TASK, EMPTY) is EMPTY


def test_a_fit_that_goes_on_is_as_long_as_one_that_does_unless_it_starts_anew():
    parameters, strategy = TrainingParameters(epochs=9, steps=8, warm_steps=3), Smallest()
    assert strategy.training(parameters, True, EMPTY).steps == 3
    assert strategy.training(parameters, False, EMPTY).steps == 8
    strategy.warm = False
    assert strategy.training(parameters, True, EMPTY).steps == 8


def test_a_strategy_must_say_what_it_selects():
    with pytest.raises(TypeError, match="select"):
        Strategy()


def test_every_strategy_that_comes_with_it_is_registered():
    built_in = {"full", "window", "cold", "finetune", "joint", "replay", "ewc", "mas", "lwf", "twp", "agem", "ssm"}
    assert built_in == {name for name in strategies.names() if strategies.is_built_in(name)}
