from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.streams.stream import StreamInfo, assemble
from tests.support.graphs import small_stream

BORN = np.array([2000, 2000, 2000, 2001, 2001, 2003, 2003, 2003, 2004, 2004, 2004])
LABELS = np.array([2, 0, -1, 0, 2, 3, 1, -1, 1, 4, 0])
EDGES = np.array([(0, 1), (1, 2), (3, 0), (4, 3), (5, 4), (6, 5), (7, 0), (8, 6), (9, 8), (10, 3)]).T


def years(t0=2001, labels=LABELS):
    """Eleven vertices in 2000, 2001, 2003 and 2004; vertices 2 and 7 have no label; the feature is the number."""
    features = np.arange(11, dtype=np.float32)[:, None]
    return assemble(StreamInfo("years", t0=t0), np.arange(11), BORN, labels, features, EDGES)


def tasks(stream=None, **options):
    return list(Temporal(**options).tasks(stream or years(), seed=0))


def pairs(graph):
    """Edges of a graph by the vertex numbers of the stream."""
    number = graph.features[:, 0].astype(int)
    return {tuple(sorted((number[u], number[v]))) for u, v in graph.edges.T}


def upto(year, since=0):
    return {
        tuple(sorted((u, v)))
        for u, v in EDGES.T.tolist()
        if max(BORN[u], BORN[v]) <= year and min(BORN[u], BORN[v]) >= since
    }


def shown(task):
    """Everything a method is given."""
    arrays = [task.train.labels, task.train.born, task.fit_mask, task.scored, task.known]
    arrays += [task.train.graph.features, task.train.graph.edges, task.test.features, task.test.edges]
    return [task.time, task.role, task.fold, task.calibration, *(np.ascontiguousarray(a).tobytes() for a in arrays)]


def test_every_year_from_t0_on_but_the_last_trains_and_the_next_existing_year_is_scored():
    found = tasks()
    assert [(task.train.time, task.time) for task, _ in found] == [(2001, 2003), (2003, 2004)]
    assert [task.scored.tolist() for task, _ in found] == [[5, 6], [8, 9, 10]]
    assert [truth.labels.tolist() for _, truth in found] == [[3, 1], [1, 4, 0]]


def test_a_t0_between_two_years_means_the_last_year_before_it():
    assert [task.time for task, _ in tasks(years(t0=2002))] == [2003, 2004]


def test_the_first_task_is_for_choosing_and_the_others_are_tests():
    assert [task.role for task, _ in tasks()] == ["validation", "test"]
    assert [task.role for task, _ in tasks(years(t0=2000))] == ["validation", "test", "test"]


def test_graphs_hold_what_is_born_and_the_edges_visible_by_then():
    for task, _ in tasks():
        assert pairs(task.train.graph) == upto(task.train.time)
        assert pairs(task.test) == upto(task.time)
        assert task.train.graph.num_vertices == (task.train.time >= BORN).sum()
        assert task.test.num_vertices == (task.time >= BORN).sum()


def test_known_classes_are_ordered_by_birth_then_id_so_that_growing_appends():
    assert [task.known.tolist() for task, _ in tasks()] == [[0, 2], [0, 2, 1, 3]]
    known = [task.known for task, _ in tasks(small_stream())]
    assert len({len(k) for k in known}) > 1
    for before, after in zip(known[:-1], known[1:], strict=True):
        assert np.array_equal(after[: len(before)], before)


def test_vertices_without_a_label_are_neither_in_the_loss_nor_scored():
    for task, truth in tasks():
        assert np.array_equal(task.fit_mask, LABELS[task.train.time >= BORN] >= 0)
        assert not {2, 7} & set(task.scored.tolist())
        assert (truth.labels >= 0).all()


def test_a_history_window_cuts_training_and_test_graph_but_not_what_is_known():
    (first, _), (second, truth) = tasks(history=1)
    assert first.train.born.tolist() == [2001, 2001] and first.train.first == 3
    assert pairs(first.train.graph) == upto(2001, since=2001) == {(3, 4)}
    assert pairs(first.test) == upto(2003, since=2001)
    assert second.train.graph.features[:, 0].tolist() == [5, 6, 7]
    assert second.test.features[:, 0].tolist() == [5, 6, 7, 8, 9, 10]
    assert pairs(second.test) == upto(2004, since=2003)
    assert second.known.tolist() == [0, 2, 1, 3]
    assert set(second.train.labels[second.fit_mask].tolist()) == {3, 1}
    assert second.test.features[second.scored, 0].tolist() == [8, 9, 10]
    assert truth.labels.tolist() == [1, 4, 0]


@pytest.mark.parametrize("options", [{}, {"history": 1}, {"label_delay": 1}])
def test_the_vertices_of_the_loss_are_the_same_in_the_test_graph(options):
    for task, _ in tasks(small_stream(), **options):
        again, before = task.test.features[task.trained], task.train.graph.features[task.fit_mask]
        assert np.array_equal(again, before)


def test_a_history_longer_than_the_stream_keeps_everything():
    assert [shown(task) for task, _ in tasks(history=9)] == [shown(task) for task, _ in tasks()]


def test_a_label_delay_hides_labels_and_puts_off_when_a_class_is_known():
    (first, _), (second, truth) = tasks(label_delay=1)
    assert first.train.labels.tolist() == [2, 0, -1, -1, -1]
    assert second.train.labels.tolist() == [2, 0, -1, 0, 2, -1, -1, -1]
    assert second.fit_mask.sum() == 4
    assert [first.known.tolist(), second.known.tolist()] == [[0, 2], [0, 2]]
    assert pairs(second.train.graph) == upto(2003)
    assert truth.labels.tolist() == [1, 4, 0]


def test_a_delay_longer_than_the_history_leaves_nothing_to_learn_from():
    task = tasks(label_delay=3)[0][0]
    assert not task.fit_mask.any() and not len(task.known)


def test_a_delay_hides_labels_in_the_task_and_not_in_the_stream():
    stream = years()
    tasks(stream, label_delay=2)
    assert np.array_equal(stream.labels, LABELS)


def test_calibration_is_left_to_the_answers_of_the_task_before():
    assert all(task.calibration is None for task, _ in tasks())


def test_years_build_on_each_other():
    assert Temporal().chained


@pytest.mark.parametrize("options", [{}, {"history": 2}, {"label_delay": 1}])
def test_other_labels_in_later_years_change_nothing_a_task_shows(options):
    stream = small_stream()
    for number, (task, truth) in enumerate(tasks(stream, **options)):
        later = stream.born >= task.time
        other = replace(stream, labels=np.where(later, (stream.labels + 1) % 5, stream.labels))
        again, other_truth = next(islice(Temporal(**options).tasks(other, 0), number, None))
        assert shown(task) == shown(again)
        assert not np.array_equal(truth.labels, other_truth.labels)


def test_labels_of_the_last_trained_year_do_show():
    stream = small_stream()
    task = tasks(stream)[1][0]
    other = replace(stream, labels=np.where(stream.born == task.train.time, 0, stream.labels))
    assert shown(task) != shown(tasks(other)[1][0])


def test_a_static_stream_is_refused():
    with pytest.raises(UsageError, match="leave-class-out"):
        tasks(small_stream(static=True))


def test_a_stream_without_t0_is_refused():
    with pytest.raises(UsageError, match="t0"):
        tasks(years(t0=None))


@pytest.mark.parametrize(
    ("options", "named"),
    [({"history": 0}, "history = 0"), ({"label_delay": -1}, "label_delay = -1")],
)
def test_parameters_that_make_no_sense_are_refused_by_name(options, named):
    with pytest.raises(UsageError, match=named):
        Temporal(**options)
