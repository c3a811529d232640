from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.splits import TEST, TRAIN, VALIDATION, split_of, stratified
from tests.support.graphs import small_stream
from tests.support.static_graphs import LABELS, PUBLIC, naive_pairs, numbers, pairs, static


def test_there_is_one_task_for_each_class_left_out():
    found = list(LeaveClassOut().tasks(static(), 0))
    assert [task.fold for task, _ in found] == ["0", "1", "2"]
    assert {task.role for task, _ in found} == {"test"}
    assert not LeaveClassOut().chained and LeaveClassOut().track == "inductive"


@pytest.mark.parametrize("split", ["60-20-20", "planetoid"])
def test_training_sees_every_vertex_but_those_of_test_and_of_the_left_out_class(split):
    stream = static(PUBLIC)
    codes = split_of(stream, split, 0)
    for k, (task, _) in enumerate(LeaveClassOut(split).tasks(stream, 0)):
        keep = [v for v in range(len(LABELS)) if codes[v] != TEST and LABELS[v] != k]
        assert numbers(task.train.graph).tolist() == keep
        assert pairs(task.train.graph) == naive_pairs(keep)
        assert task.train.graph.edges.shape[1] == len(naive_pairs(keep))


@pytest.mark.parametrize("nested", [False, True])
def test_the_vertices_of_the_loss_are_found_again_in_the_test_graph(nested):
    for task, _ in LeaveClassOut(nested=nested).tasks(static(), 0):
        assert numbers(task.test)[task.trained].tolist() == numbers(task.train.graph)[task.fit_mask].tolist()


@pytest.mark.parametrize("split", ["60-20-20", "planetoid"])
def test_the_loss_is_on_train_vertices_and_labels_end_with_those_held_out(split):
    stream = static(PUBLIC)
    codes = split_of(stream, split, 0)
    for k, (task, _) in enumerate(LeaveClassOut(split).tasks(stream, 0)):
        vertices = numbers(task.train.graph)
        trained = {v for v in range(len(LABELS)) if codes[v] == TRAIN and LABELS[v] != k}
        assert set(vertices[task.fit_mask].tolist()) == trained
        assert np.array_equal(task.train.labels, np.where(codes[vertices] > 0, LABELS[vertices], -1))
        held_out = {v for v in range(len(LABELS)) if codes[v] == VALIDATION and LABELS[v] != k}
        assert set(vertices[task.calibration].tolist()) == held_out
        assert task.known.tolist() == [c for c in range(3) if c != k]


@pytest.mark.parametrize("split", ["60-20-20", "planetoid"])
def test_all_test_vertices_are_scored_on_the_whole_graph_the_left_out_class_included(split):
    stream = static(PUBLIC)
    codes = split_of(stream, split, 0)
    for k, (task, truth) in enumerate(LeaveClassOut(split).tasks(stream, 0)):
        assert numbers(task.test).tolist() == list(range(len(LABELS)))
        assert pairs(task.test) == naive_pairs(range(len(LABELS)))
        assert task.scored.tolist() == np.flatnonzero(codes == TEST).tolist()
        assert np.array_equal(truth.labels, LABELS[task.scored])
        assert k in truth.labels


def test_nested_tasks_hide_a_second_class_and_see_neither_test_vertices_nor_the_outer_class():
    stream = static()
    codes = stratified(LABELS, 0)
    found = list(LeaveClassOut(nested=True).tasks(stream, 0))
    assert [task.fold for task, _ in found] == ["0/1", "0/2", "0", "1/0", "1/2", "1", "2/0", "2/1", "2"]
    inner = [(task, truth) for task, truth in found if task.role == "validation"]
    assert [task.fold for task, _ in inner] == [f"{k}/{j}" for k, j in permutations(range(3), 2)]
    for task, truth in inner:
        k, j = map(int, task.fold.split("/"))
        seen = [v for v in range(len(LABELS)) if codes[v] != TEST and LABELS[v] != k]
        assert numbers(task.test).tolist() == seen
        assert pairs(task.test) == naive_pairs(seen)
        trained_on = [v for v in seen if LABELS[v] != j]
        assert numbers(task.train.graph).tolist() == trained_on
        assert pairs(task.train.graph) == naive_pairs(trained_on)
        assert not {k, j} & set(task.known.tolist())
        scored = numbers(task.test)[task.scored]
        assert set(scored.tolist()) == {v for v in seen if codes[v] == VALIDATION}
        assert np.array_equal(truth.labels, LABELS[scored]) and j in truth.labels


def test_nesting_leaves_the_tasks_that_are_graded_alone():
    plain = list(LeaveClassOut().tasks(static(), 0))
    nested = [pair for pair in LeaveClassOut(nested=True).tasks(static(), 0) if pair[0].role == "test"]
    for (one, truth), (other, again) in zip(plain, nested, strict=True):
        assert one.fold == other.fold and np.array_equal(truth.labels, again.labels)
        assert np.array_equal(one.train.labels, other.train.labels)
        assert pairs(one.train.graph) == pairs(other.train.graph)


def test_leaving_a_class_out_of_a_stream_with_years_is_refused():
    with pytest.raises(UsageError, match="temporal protocol"):
        next(LeaveClassOut().tasks(small_stream(), 0))
