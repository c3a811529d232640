"""What a strategy is offered of each year, and what is made of what it returns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lgl_bench.core.errors import PluginError
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.strategies import EMPTY, FitView, Memory, Strategy
from lgl_bench.strategies.offers import Given, memory_size, offer, seal
from lgl_bench.streams.stream import StreamInfo, assemble
from tests.support.graphs import to_sparse

BORN = [0, 0, 1, 1, 2, 2, 3, 3]
LABELS = [0, 1, 0, 1, 2, -1, 0, 2]
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4), (4, 5), (3, 6), (5, 7), (6, 7)]


def tiny(labels=LABELS, features=None):
    """Eight vertices in four years, two a year; the class 2 appears in year 2."""
    features = np.arange(16, dtype=np.float32).reshape(8, 2) if features is None else features
    info = StreamInfo("tiny", t0=0)
    arcs = np.array([arc for u, v in EDGES for arc in ((u, v), (v, u))]).T
    return assemble(info, np.arange(8), np.array(BORN), np.array(labels), features, arcs)


def tasks(stream=None, **knobs):
    """Those that learn up to the years 0, 1 and 2."""
    return [task for task, _ in Temporal(**knobs).tasks(stream or tiny(), 0)]


def kept(vertices, labels, edges=None):
    arcs = None if edges is None else np.array([arc for u, v in edges for arc in ((u, v), (v, u))]).T
    return Memory(np.array(vertices), np.array(labels), arcs)


def numbers(mask):
    return np.flatnonzero(mask).tolist()


def arcs_of(graph, positions):
    """Undirected edges by positions in the stream."""
    pairs = positions[graph.edges].T
    return sorted({tuple(sorted(pair)) for pair in pairs.tolist()})


def test_in_the_first_year_all_is_new_and_recent_whatever_the_past():
    first = tasks()[0]
    for past in ("all", "memory"):
        found = offer(first, None, EMPTY, past)
        assert (numbers(found.new), numbers(found.recent), numbers(found.remembered)) == ([0, 1], [0, 1], [])
        assert found.train.labels.tolist() == [0, 1]


def test_later_what_arrived_since_is_new_and_what_is_in_memory_is_remembered():
    _, second, third = tasks()
    found = offer(third, second, kept([1, 2], [1, 0]), "memory")
    assert numbers(found.new) == [4]
    assert numbers(found.recent) == [4, 5]  # 5 has no label
    assert numbers(found.remembered) == [1, 2]
    assert found.train.labels.tolist() == [-1, 1, 0, -1, 2, -1]
    assert numbers(found.task.fit_mask) == found.labelled.tolist() == [1, 2, 4]
    assert found.positions.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.known.tolist() == [0, 1, 2]


def test_with_all_history_every_label_is_on_offer_and_new_ones_are_told_apart():
    _, second, third = tasks()
    found = offer(third, second, EMPTY, "all")
    assert found.task is third
    assert (numbers(found.new), numbers(found.recent)) == ([4], [4, 5])


def test_labels_that_arrive_late_are_new_when_they_arrive_and_recent_are_those_younger_than_all_that_were_there():
    first, second = (task for task in tasks(label_delay=1) if not task.skip_reason)
    assert (first.time, second.time) == (2, 3)
    found = offer(first, None, EMPTY, "memory")
    assert (numbers(found.new), numbers(found.recent)) == ([0, 1], [0, 1, 2, 3])
    found = offer(second, first, EMPTY, "memory")
    # Labels of year 1 arrive in year 2; its vertices were there before, but were not learned from.
    assert numbers(found.new) == [2, 3]
    assert numbers(found.recent) == [2, 3, 4, 5]
    assert found.train.labels.tolist() == [-1, -1, 0, 1, -1, -1]


def test_a_year_without_labels_has_nothing_new_but_recent_vertices():
    _, second, third = tasks(tiny([0, 1, 0, 1, -1, -1, 0, 1]))
    found = offer(third, second, kept([3], [1]), "memory")
    assert (numbers(found.new), numbers(found.recent), found.labelled.tolist()) == ([], [4, 5], [3])


def test_a_fit_after_a_skipped_year_is_offered_the_labels_of_both():
    first, second, third = tasks(tiny([0, 1, 0, 1, -1, -1, 0, 1]))
    assert second.skip_reason
    found = offer(third, first, EMPTY, "memory")
    assert (numbers(found.new), numbers(found.recent)) == ([2, 3], [2, 3, 4, 5])


def test_in_a_window_positions_begin_later_and_memory_outside_is_not_offered():
    _, second, third = tasks(history=2)
    assert third.train.first == 2
    found = offer(third, second, kept([1, 3], [1, 1]), "memory")
    assert found.positions.tolist() == [2, 3, 4, 5]
    assert (numbers(found.new), numbers(found.recent), numbers(found.remembered)) == ([2], [2, 3], [1])
    assert found.train.labels.tolist() == [-1, 1, 2, -1]
    assert offer(third, second, EMPTY, "all").train.labels.tolist() == [0, 1, 2, -1]


def test_a_vertex_kept_without_its_label_has_none_on_offer():
    _, second, third = tasks()
    found = offer(third, second, kept([1, 2], [-1, 0]), "memory")
    assert (numbers(found.remembered), found.labelled.tolist()) == ([1, 2], [2, 4])


def test_a_vertex_kept_before_its_label_arrived_is_new_when_it_does():
    first, second = (task for task in tasks(label_delay=1) if not task.skip_reason)
    found = offer(second, first, kept([2], [-1]), "memory")
    assert numbers(found.new) == [2, 3]
    assert found.train.labels[2] == 0


def test_the_kept_graph_has_memory_and_what_is_young_in_training_and_test():
    _, second, third = tasks()
    found = offer(third, second, kept([0, 2], [0, 0]), "memory", "kept")
    assert found.positions.tolist() == [0, 2, 4, 5]
    assert (numbers(found.new), numbers(found.recent), numbers(found.remembered)) == ([2], [2, 3], [0, 1])
    assert found.train.labels.tolist() == [0, 0, 2, -1]
    assert found.train.graph.features.tolist() == [[0, 1], [4, 5], [8, 9], [10, 11]]
    assert found.train.born.tolist() == [0, 1, 2, 2]
    assert arcs_of(found.train.graph, found.positions) == [(0, 2), (2, 4), (4, 5)]
    test = found.task.test
    everywhere = np.array([0, 2, 4, 5, 6, 7])
    assert test.num_vertices == 6
    assert arcs_of(test, everywhere) == [(0, 2), (2, 4), (4, 5), (5, 7), (6, 7)]
    assert everywhere[found.task.scored].tolist() == [6, 7]
    assert third.test.num_vertices == 8  # the protocol's own is as it was


def test_a_memory_with_arcs_of_its_own_keeps_no_other_between_old_vertices():
    _, second, third = tasks()
    found = offer(third, second, kept([0, 1, 2], [0, 1, 0], [(0, 1)]), "memory", "kept")
    # 0-2 and 1-2 are forgotten; arcs to young vertices are theirs.
    assert arcs_of(found.train.graph, found.positions) == [(0, 1), (2, 4), (4, 5)]
    assert arcs_of(found.task.test, np.array([0, 1, 2, 4, 5, 6, 7])) == [(0, 1), (2, 4), (4, 5), (5, 7), (6, 7)]


def test_arcs_of_a_memory_that_reach_out_of_a_window_stand_for_no_other():
    born = np.array([0] * 8 + [1, 1, 2, 3])
    arcs = np.array([[8, 9], [9, 8]])
    stream = assemble(StreamInfo("uneven", t0=1), np.arange(12), born, np.arange(12) % 2, np.ones((12, 1)), arcs)
    second, third = tasks(stream, history=2)
    memory = Memory(np.array([8, 9]), np.array([0, 1]), np.array([[9], [5]]))
    found = offer(third, second, memory, "memory", "kept")
    assert found.positions.tolist() == [8, 9, 10]
    # Counted from 8, with 4 vertices, 9 -> 5 has the number 1 * 4 - 3, which is that of 8 -> 9 too.
    assert found.train.graph.edges.shape == (2, 0)


def test_the_kept_graph_of_the_first_year_is_the_whole_one():
    first = tasks()[0]
    assert offer(first, None, EMPTY, "memory", "kept").train.graph is first.train.graph


def test_a_protocol_that_holds_vertices_out_keeps_those_that_stay():
    _, second, third = tasks()
    third = replace(third, calibration=np.array([1, 3, 5]))
    found = offer(third, second, kept([3], [1]), "memory", "kept")
    assert found.positions[found.task.calibration].tolist() == [3, 5]


def test_what_is_offered_cannot_be_written_into():
    found = offer(tasks()[0], None, EMPTY, "memory")
    for array in (found.new, found.recent, found.remembered, found.positions, found.train.labels, found.task.fit_mask):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def third_offer(memory=EMPTY):
    _, second, third = tasks()
    return offer(third, second, memory, "memory")


def test_a_forged_label_becomes_the_one_that_was_on_offer():
    task = third_offer(kept([2], [0]))
    sealed = seal(kept([1, 2, 4], [7, 7, 7]), task)
    assert sealed.labels.tolist() == [-1, 0, 2]  # 1 was not on offer


def test_a_label_that_was_given_up_stays_away():
    task = third_offer(kept([2], [0]))
    assert seal(kept([2, 4], [-1, 2]), task).labels.tolist() == [-1, 2]


@pytest.mark.parametrize("vertices", [[6], [-1], [2, 100], [2**62]])
def test_a_vertex_that_was_not_offered_cannot_be_remembered(vertices):
    with pytest.raises(PluginError, match="not in its training graph"):
        seal(kept(vertices, [0] * len(vertices)), third_offer())


def test_a_vertex_that_was_cut_out_of_the_kept_graph_cannot_be_remembered():
    _, second, third = tasks()
    task = offer(third, second, kept([0], [0]), "memory", "kept")
    with pytest.raises(PluginError, match="not in its training graph"):
        seal(kept([1], [1]), task)


def test_a_memory_without_order_is_refused_where_it_is_made():
    with pytest.raises(PluginError, match=r"vertices ascend.*task\.remember"):
        seal(kept([4, 2], [2, 0]), third_offer())


class Smuggler(Memory):
    secret = "labels"


def test_what_a_memory_of_another_class_carries_is_left_behind():
    memory = Smuggler(np.array([4]), np.array([2]), None, {"fits": np.array([1])})
    sealed = seal(memory, third_offer())
    assert type(sealed) is Memory
    assert (sealed.vertices.tolist(), sealed.labels.tolist(), sealed.arrays["fits"].tolist()) == ([4], [2], [1])


def test_size_counts_features_positions_labels_and_arrays():
    task = third_offer()
    memory = task.remember([2, 4], weights=np.zeros(3, dtype=np.float32))
    # two rows of two floats, two positions and labels of 8 bytes, three floats
    assert memory_size(memory, task, "memory") == (2, 2 * 8 + 2 * 16 + 12)
    assert memory_size(EMPTY, task, "memory") == (0, 0)


def test_size_counts_arcs_that_are_kept():
    task = third_offer()
    memory = task.remember([2, 4], [[2, 4], [4, 2]])
    assert memory_size(memory, task, "memory") == (2, 2 * 8 + 2 * 16 + 4 * 8)


def test_size_of_all_history_is_that_of_every_label_there_is():
    _, second, third = tasks()
    task = offer(third, second, EMPTY, "all")
    assert memory_size(EMPTY, task, "all") == (5, 5 * 8 + 5 * 16)  # 5 of 6 vertices have a label


def test_size_of_sparse_features_is_that_of_their_entries():
    features = to_sparse(np.array([[0, 1], [2, 3], [4, 0], [0, 0], [5, 6], [0, 0], [0, 7], [8, 9]], dtype=np.float32))
    _, second, third = tasks(tiny(features=features))
    task = offer(third, second, EMPTY, "memory")
    # vertex 2 has one entry, vertex 4 two: 4 bytes of column and 4 of value each, 8 per row
    assert memory_size(task.remember([2, 4]), task, "memory") == (2, 3 * 8 + 2 * 8 + 2 * 16)


class Chooses(Strategy):
    def __init__(self, vertices, weights=None):
        self.view = FitView(vertices, weights)

    def select(self, task, memory, seed):
        return self.view


def view(vertices, weights=None):
    return Given(third_offer(kept([1, 2], [1, 0]))).view(Chooses(vertices, weights), 0)


def test_weights_are_ordered_by_vertex_and_have_a_mean_of_one():
    task, weights = view(np.array([4, 1]), np.array([1.0, 3.0]))
    assert numbers(task.fit_mask) == [1, 4]
    assert weights.tolist() == [1.5, 0.5]


@pytest.mark.parametrize("weights", [None, np.array([2.0, 2.0])])
def test_equal_weights_are_none(weights):
    assert view(np.array([1, 4]), weights)[1] is None


def test_nothing_may_be_chosen():
    task, weights = view(np.array([], dtype=np.float64))
    assert (numbers(task.fit_mask), weights) == ([], None)


@pytest.mark.parametrize("vertices", [[0], [5], [1, 1], [-1], [6]], ids=["forgotten", "bare", "twice", "-1", "beyond"])
def test_a_vertex_without_a_label_on_offer_cannot_be_chosen(vertices):
    with pytest.raises(PluginError, match=r"twice, or one that has no label on offer; see task\.labelled"):
        view(np.array(vertices))


@pytest.mark.parametrize("vertices", [np.array([1.0]), np.array([True]), np.array([[1]])])
def test_what_is_chosen_must_be_numbers_of_vertices(vertices):
    with pytest.raises(PluginError, match="numbers of vertices"):
        view(vertices)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]])
def test_weights_must_be_positive_numbers_one_per_vertex(weights):
    with pytest.raises(PluginError, match="positive numbers, one per vertex"):
        view(np.array([1, 4]), np.array(weights))
