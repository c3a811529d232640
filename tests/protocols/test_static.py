from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.splits import TEST, TRAIN, VALIDATION, split_of, stratified
from lgl_bench.protocols.subgraph import induced
from lgl_bench.protocols.transductive import Transductive
from lgl_bench.streams.stream import StreamInfo, assemble
from tests.support.graphs import small_stream

LABELS = np.array([0] * 5 + [1] * 10 + [2] * 7 + [-1])
EDGES = np.random.default_rng(0).integers(0, len(LABELS), (2, 60))
PUBLIC = np.array([1, 1, 2, 3, 0] + [1, 1, 1, 2, 2, 3, 3, 0, 0, 0] + [1, 2, 2, 3, 3, 3, 0] + [3], dtype=np.int8)


def static(split=None):
    """Classes of 5, 10 and 7 vertices and one vertex without a label; the feature is the number."""
    n = len(LABELS)
    features = np.arange(n, dtype=np.float32)[:, None]
    return assemble(StreamInfo("static"), np.arange(n), np.zeros(n, np.int64), LABELS, features, EDGES, split)


def numbers(graph):
    return graph.features[:, 0].astype(int)


def pairs(graph):
    number = numbers(graph)
    return {(int(number[u]), int(number[v])) for u, v in graph.edges.T}


def naive_pairs(keep):
    keep = set(keep)
    both = {(u, v) for u, v in EDGES.T.tolist() if u != v} | {(v, u) for u, v in EDGES.T.tolist() if u != v}
    return {(u, v) for u, v in both if u in keep and v in keep}


def test_the_graph_of_the_first_vertices_has_their_features_alone():
    whole = static().upto(0).graph
    graph, vertices = induced(whole, np.arange(whole.num_vertices) < 4)
    assert graph.features.shape == (4, 1) and vertices.tolist() == [0, 1, 2, 3]
    assert pairs(graph) == naive_pairs(range(4))


def test_each_class_is_cut_at_60_and_80_percent_rounded_down():
    codes = stratified(LABELS, seed=0)
    counts = {k: np.bincount(codes[k == LABELS], minlength=4).tolist() for k in range(3)}
    assert counts == {0: [0, 3, 1, 1], 1: [0, 6, 2, 2], 2: [0, 4, 1, 2]}
    assert codes[-1] == 0  # no label, no part


def test_a_split_is_the_seeds_own():
    assert np.array_equal(stratified(LABELS, 1), stratified(LABELS, 1))
    assert any(not np.array_equal(stratified(LABELS, 1), stratified(LABELS, seed)) for seed in (2, 3))


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


def test_the_planetoid_split_is_the_published_column_without_the_unlabelled():
    codes = split_of(static(PUBLIC), "planetoid", 0)
    assert np.array_equal(codes[:-1], PUBLIC[:-1])
    assert codes[-1] == 0
    assert np.array_equal(codes, split_of(static(PUBLIC), "planetoid", 1))


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


def test_the_transductive_track_has_one_task_on_the_whole_graph_with_every_class_known():
    protocol = Transductive()
    ((task, truth),) = protocol.tasks(static(PUBLIC), 0)
    codes = split_of(static(PUBLIC), "planetoid", 0)
    assert protocol.track == "transductive"
    assert task.known.tolist() == [0, 1, 2]
    for graph in (task.train.graph, task.test):
        assert pairs(graph) == naive_pairs(range(len(LABELS)))
    assert np.array_equal(task.fit_mask, codes == TRAIN)
    assert np.array_equal(task.train.labels, np.where((codes == TRAIN) | (codes == VALIDATION), LABELS, -1))
    assert task.calibration.tolist() == np.flatnonzero(codes == VALIDATION).tolist()
    assert task.scored.tolist() == np.flatnonzero(codes == TEST).tolist()
    assert np.array_equal(truth.labels, LABELS[task.scored])


def test_the_transductive_track_takes_the_drawn_split_too():
    ((task, _),) = Transductive("60-20-20").tasks(static(), 4)
    assert np.array_equal(task.fit_mask, stratified(LABELS, 4) == TRAIN)


@pytest.mark.parametrize("protocol", [LeaveClassOut, Transductive])
def test_a_split_nobody_knows_is_refused(protocol):
    with pytest.raises(UsageError, match="70-30.*60-20-20 and planetoid"):
        protocol("70-30")
    with pytest.raises(UsageError, match="70-30"):
        split_of(static(), "70-30", 0)


@pytest.mark.parametrize("protocol", [LeaveClassOut, Transductive])
def test_a_graph_without_a_published_split_is_refused(protocol):
    with pytest.raises(UsageError, match="no published split"):
        next(protocol("planetoid").tasks(static(), 0))


def test_leaving_a_class_out_of_a_stream_with_years_is_refused():
    with pytest.raises(UsageError, match="temporal protocol"):
        next(LeaveClassOut().tasks(small_stream(), 0))
