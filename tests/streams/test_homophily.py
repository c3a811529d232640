from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.types import IntArray
from lgl_bench.streams import homophily
from lgl_bench.streams.raw import RawGraph, build
from lgl_bench.streams.stream import StreamInfo


def arcs(*edges: tuple[int, int]) -> IntArray:
    both = [arc for a, b in edges for arc in ((a, b), (b, a))]
    return np.array(both, dtype=np.int64).reshape(-1, 2).T


# Vertex 3 is isolated, vertex 4 has no label: its edge counts nowhere.
# Classes: 0 = {0, 1}, 1 = {2, 3}. Edges that count: 0-1 (equal), 1-2 (not), 0-2 (not).
ARCS = arcs((0, 1), (1, 2), (0, 2), (2, 4))
LABELS = np.array([0, 0, 1, 1, -1])


def test_graph_level_is_the_share_of_edges_that_join_equal_classes() -> None:
    assert homophily.graph_level(ARCS, LABELS) == pytest.approx(1 / 3)


def test_vertex_level_is_the_mean_over_labelled_vertices_and_an_isolated_one_counts_zero() -> None:
    # vertices 0 and 1 have one equal neighbour of two, 2 none of two, 3 no neighbour
    assert homophily.vertex_level(ARCS, LABELS) == pytest.approx((1 / 2 + 1 / 2 + 0 + 0) / 4)


def test_class_insensitive_takes_off_the_size_of_each_class() -> None:
    # class 0: 2 of its 4 arcs stay inside, its size is 2 of 4: excess 0; class 1: 0 of 2, below its size
    assert homophily.class_insensitive(ARCS, LABELS) == 0.0
    # without the edge 0-2: class 0 has 2 of 3 inside, excess 1/6; class 1 has 0 of 1
    assert homophily.class_insensitive(arcs((0, 1), (1, 2)), LABELS) == pytest.approx(1 / 6)


def test_class_insensitive_of_three_classes_divides_by_two() -> None:
    labels = np.array([0, 0, 1, 1, 2])
    # class 0: 2/3 - 2/5; class 1: 2/3 - 2/5; class 2 has no edge inside: 0 - 1/5 is cut to 0
    value = homophily.class_insensitive(arcs((0, 1), (2, 3), (0, 4), (2, 4)), labels)
    assert value == pytest.approx((2 * (2 / 3 - 2 / 5)) / 2)


def test_the_index_runs_from_minus_one_where_all_edges_are_inside_to_one_where_none_is() -> None:
    assert homophily.index(ARCS, LABELS) == pytest.approx((2 - 1) / 3)
    assert homophily.index(arcs((0, 1)), LABELS) == -1.0
    assert homophily.index(arcs((0, 2)), LABELS) == 1.0


def test_per_class_figures_count_the_arcs_that_leave_a_class() -> None:
    found = homophily.per_class(ARCS, LABELS)
    assert found == {
        0: {"homophily": pytest.approx(2 / 4), "index": pytest.approx(0.0)},
        1: {"homophily": 0.0, "index": 1.0},
    }


def test_a_class_without_arcs_has_no_figure_of_its_own() -> None:
    found = homophily.per_class(arcs((0, 1)), LABELS)
    assert found[1] == {"homophily": None, "index": None}


@pytest.mark.parametrize(
    "measure", [homophily.graph_level, homophily.class_insensitive, homophily.index], ids=lambda f: f.__name__
)
def test_without_an_edge_between_labelled_vertices_there_is_no_value(measure: object) -> None:
    assert callable(measure)
    assert measure(arcs(), LABELS) is None
    assert measure(arcs((2, 4)), LABELS) is None


def test_without_labels_nothing_has_a_value() -> None:
    none = np.full(5, -1)
    assert homophily.vertex_level(ARCS, none) is None
    assert homophily.graph_level(ARCS, none) is None
    assert homophily.per_class(ARCS, none) == {}


def test_with_a_single_class_the_class_insensitive_measure_has_no_value() -> None:
    assert homophily.class_insensitive(arcs((0, 1)), np.array([3, 3])) is None


@given(st.data())
def test_the_measure_over_time_equals_the_measure_of_every_snapshot(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex), max_size=20))
    raw = RawGraph(
        ids=np.arange(n),
        born=np.array(data.draw(st.lists(st.integers(2000, 2004), min_size=n, max_size=n))),
        labels=np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))),
        features=np.zeros((n, 0), dtype=np.float32),
        edges=np.array(edges, dtype=np.int64).reshape(-1, 2).T,
    )
    stream = build(raw, StreamInfo("random"))
    found = homophily.class_insensitive_over_time(stream.arcs, stream.labels, stream.vertex_ends, stream.edge_ends)
    snapshots = [stream.upto(time) for time in stream.times]
    assert found == [homophily.class_insensitive(s.graph.edges, s.labels) for s in snapshots]
