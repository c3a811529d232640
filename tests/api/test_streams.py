"""Streams and tasks from Python, and what a task does not hold."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

import lgl_bench
from lgl_bench.core.errors import UsageError
from tests.support.graphs import small_stream


def reachable(value, seen=None):
    """Every array that attributes lead to from a value, the memory behind slices included."""
    seen = {} if seen is None else seen
    if id(value) in seen or isinstance(value, type | str | int | float | None):
        return []
    seen[id(value)] = value
    if isinstance(value, np.ndarray):
        return [value, *reachable(value.base, seen)]
    inside = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else []
    inside += list(getattr(value, "__dict__", {}).values())
    inside += [
        getattr(value, name) for name in dir(value) if not name.startswith("__") and not callable(getattr(value, name))
    ]
    inside += list(value.values()) if isinstance(value, dict) else []
    inside += list(value) if isinstance(value, list | tuple) else []
    return [array for one in inside for array in reachable(one, seen)]


def relabelled(stream, year):
    """The same stream with other classes from a year on."""
    late = (stream.born >= year) & (stream.labels >= 0)
    return replace(stream, labels=np.where(late, (stream.labels + 1) % stream.num_classes, stream.labels))


def assert_no_label_leaks(left, right):
    """Everything reachable from two tasks is the same."""
    one, other = reachable(left), reachable(right)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a, b)


def test_nothing_reachable_from_a_task_depends_on_labels_of_the_year_it_asks_about_or_later():
    stream = small_stream()
    for task in lgl_bench.tasks(stream):
        other = next(one for one in lgl_bench.tasks(relabelled(stream, task.time)) if one.time == task.time)
        assert_no_label_leaks(task, other)


def test_the_walk_would_see_labels_behind_a_slice():
    stream = small_stream()
    (task, _), *_ = lgl_bench.api.streams.protocols.get("temporal")().tasks(stream, 0)
    assert any(np.array_equal(array, stream.labels) for array in reachable(task))


def test_nothing_reachable_from_a_task_without_years_depends_on_labels_of_scored_vertices():
    stream = small_stream(static=True)
    for fold, task in enumerate(lgl_bench.tasks(stream, "leave-class-out", split="planetoid")):
        hidden = np.zeros(stream.num_vertices, dtype=bool)
        hidden[task.scored] = True
        other = replace(stream, labels=np.where(hidden, np.roll(stream.labels, 1), stream.labels))
        again = list(lgl_bench.tasks(other, "leave-class-out", split="planetoid"))[fold]
        assert_no_label_leaks(task, again)


def test_tasks_take_a_name_and_parameters_of_the_protocol():
    found = list(lgl_bench.tasks("dblp-easy-twin", label_delay=2))
    assert [task.role for task in found][:2] == ["validation", "test"]
    assert (found[0].train.labels[found[0].train.born > found[0].time - 3] == -1).all()
    with pytest.raises(UsageError, match="does not take depth"):
        lgl_bench.tasks("dblp-easy-twin", depth=3)


def test_a_stream_is_handed_to_networkx_with_its_vertices_edges_years_and_classes():
    stream = small_stream()
    graph = stream.to_networkx()
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (stream.num_vertices, stream.num_edges)
    assert graph.nodes[7] == {"time": stream.born[7], "label": stream.labels[7], "id": stream.ids[7]}
    u, v = stream.arcs[:, 10]
    assert graph.has_edge(int(u), int(v))
    rows = stream.upto(1).to_networkx(features=True)
    assert np.array_equal(rows.nodes[3]["features"], stream.features[3])


def test_the_graph_of_a_task_is_handed_on_without_labels():
    task = next(lgl_bench.tasks(small_stream()))
    assert set(task.test.to_networkx().nodes[0]) == {"time"}
    assert set(task.train.to_networkx().nodes[0]) == {"time", "label"}


def test_a_stream_is_handed_to_dgl_with_features_of_its_own_memory():
    pytest.importorskip("dgl")
    stream = small_stream()
    graph = stream.upto(2).to_dgl()
    assert graph.num_edges() == stream.upto(2).graph.edges.shape[1]
    graph.ndata["feat"][0] = 9.0
    assert stream.features[0, 0] != 9.0 and set(graph.ndata) == {"feat", "time", "label"}


def test_a_stream_is_handed_to_pyg():
    pytest.importorskip("torch_geometric")
    stream = small_stream()
    data = stream.to_pyg()
    assert data.x.shape == stream.features.shape and np.array_equal(data.y.numpy(), stream.labels)
    assert np.array_equal(data.edge_index.numpy(), stream.arcs)


@pytest.mark.parametrize(
    ("module", "call"), [("torch_geometric", "to_pyg"), ("networkx", "to_networkx"), ("dgl", "to_dgl")]
)
def test_a_library_that_is_not_installed_is_named_with_how_to_install_it(monkeypatch, module, call):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(UsageError, match="cannot be imported .*'pip install "):
        getattr(small_stream(), call)()
