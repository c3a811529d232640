from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import DataError
from lgl_bench.kernels import Arcs, arc_ends, arcs, arcs_at_two_hops, arcs_between, take_arcs
from tests.support.graphs import dense_adjacency, random_graph

# Into 0 from 2 and 1, into 1 nothing, into 2 from 0, twice from 3 and from itself, into 3 from 0.
EDGES = np.array([[2, 3, 0, 1, 3, 2, 0], [0, 2, 2, 0, 2, 2, 3]])


def made() -> Arcs:
    return Arcs.of_edges(EDGES, 4)


def listed(found: Arcs) -> list[list[int]]:
    """Where the arcs into each target come from."""
    bounds = zip(found.starts[:-1].tolist(), found.starts[1:].tolist(), strict=True)
    return [found.sources[start:end].tolist() for start, end in bounds]


def test_arcs_in_any_order_are_sorted_by_target_and_keep_their_order_into_one():
    found = made()
    assert listed(found) == [[2, 1], [], [3, 0, 3, 2], [0]]
    assert (found.num_targets, found.num_sources, found.num_arcs, found.sampled) == (4, 4, 7, False)
    assert found.starts.dtype == torch.int64 and found.sources.dtype == torch.int32
    assert arc_ends(found).tolist() == [[2, 1, 3, 0, 3, 2, 0], [0, 0, 2, 2, 2, 2, 3]]


@pytest.mark.parametrize("kind", [np.int64, np.int32])
def test_edges_may_be_of_either_size_read_only_and_the_columns_of_another_array(kind):
    edges = EDGES.astype(kind).T.copy().T
    edges.flags.writeable = False
    assert listed(Arcs.of_edges(edges, 4)) == listed(made())


@pytest.mark.parametrize("vertices", [0, 1, 3])
def test_a_graph_without_edges_has_vertices_without_arcs(vertices):
    found = Arcs.of_edges(np.empty((2, 0), dtype=np.int64), vertices)
    assert listed(found) == [[]] * vertices and found.num_arcs == 0
    assert listed(found.with_loops()) == [[v] for v in range(vertices)]
    assert found.outgoing.begins.tolist() == [0] * (vertices + 1)
    assert found.targets.tolist() == [] and arc_ends(found).shape == (2, 0)


def test_more_arcs_than_32_bits_can_count_are_refused(monkeypatch):
    monkeypatch.setattr(arcs, "_MAX", 10)
    with pytest.raises(DataError, match="7 arcs: more than 10 are not supported"):
        made()


def test_counts_targets_and_shares_are_those_of_the_arcs_into_a_vertex():
    found = made()
    assert found.counts.tolist() == [2, 0, 4, 1]
    assert found.targets.tolist() == [0, 0, 2, 2, 2, 2, 3]
    assert found.shares.tolist() == [[0.5], [1.0], [0.25], [1.0]]


def test_every_vertex_gets_a_loop_after_its_other_arcs():
    found = made().with_loops()
    assert listed(found) == [[2, 1, 0], [1], [3, 0, 3, 2, 2], [0, 3]]
    assert found.num_sources == 4


def test_the_same_arcs_by_source_know_their_place_by_target():
    found = made()
    begins, targets, places = found.outgoing
    assert begins.tolist() == [0, 2, 3, 5, 7]
    assert targets.tolist() == [2, 3, 0, 0, 2, 2, 2]
    assert places.tolist() == [3, 6, 1, 0, 5, 2, 4]
    assert found.outgoing is found.outgoing


def test_sources_that_are_no_targets_are_in_the_order_by_source_too():
    block = Arcs(torch.tensor([0, 2, 3]), torch.tensor([4, 1, 4], dtype=torch.int32), 6)
    begins, targets, places = block.outgoing
    assert begins.tolist() == [0, 0, 1, 1, 1, 3, 3]
    assert (targets.tolist(), places.tolist()) == ([0, 0, 1], [1, 0, 2])


def test_arcs_between_some_vertices_are_numbered_in_their_order():
    found = arcs_between(made(), torch.tensor([3, 2, 1]))
    assert listed(found) == [[], [0, 0, 1], []]
    assert found.num_sources == 3 and found.sampled
    assert listed(arcs_between(made(), torch.arange(4))) == listed(made())
    assert listed(arcs_between(made(), torch.empty(0, dtype=torch.int64))) == []


def test_rows_are_taken_in_their_order_with_their_values_as_often_as_they_are_named():
    found, values = take_arcs(made(), torch.tensor([3, 2, 1, 3]), torch.arange(7.0))
    assert listed(found) == [[0], [3, 0, 3, 2], [], [0]]
    assert values.tolist() == [6.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert found.num_sources == 4 and found.sampled


def test_the_head_holds_the_arcs_into_the_first_targets_in_the_same_memory():
    whole = made()
    found = whole.head(3)
    assert listed(found) == [[2, 1], [], [3, 0, 3, 2]]
    assert found.num_sources == 4 and found.sources.data_ptr() == whole.sources.data_ptr()
    assert listed(whole.head(0)) == []


def test_arcs_on_another_device_are_the_same():
    found = made().to("meta")
    assert found.device.type == "meta"
    assert (found.num_targets, found.num_sources, found.num_arcs) == (4, 4, 7)
    assert found.targets.shape == (7,) and found.shares.shape == (4, 1)


def test_vertices_at_distance_two_are_neighbours_of_neighbours_but_no_neighbours_and_not_the_vertex_itself():
    # A triangle 0, 1, 2 with a tail 2 - 3 - 4; the edge 2 - 3 is there twice, and 5 is isolated.
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (2, 3), (3, 4)]
    both = np.array([arc for u, v in edges for arc in ((u, v), (v, u))]).T
    found = arcs_at_two_hops(Arcs.of_edges(both, 6))
    assert [sorted(into) for into in listed(found)] == [[3], [3], [4], [0, 1], [2], []]
    assert found.starts.dtype == torch.int64 and found.sources.dtype == torch.int32 and found.num_sources == 6


@pytest.mark.parametrize("seed", range(3))
def test_vertices_at_distance_two_of_random_graphs_are_those_of_the_squared_matrix(seed):
    g = random_graph(n=40, edges=50, seed=seed)
    a = dense_adjacency(g)
    expected = (a @ a > 0) & (a == 0) & ~np.eye(40, dtype=bool)
    found = np.zeros((40, 40))
    u, v = arc_ends(arcs_at_two_hops(Arcs.of_edges(g.edges, 40)))
    np.add.at(found, (v, u), 1)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("vertices", [0, 1, 3])
def test_a_graph_without_edges_has_no_vertices_at_distance_two(vertices):
    assert listed(arcs_at_two_hops(Arcs.of_edges(np.empty((2, 0), dtype=np.int64), vertices))) == [[]] * vertices


def test_more_pairs_at_distance_two_than_fit_into_memory_are_refused(monkeypatch):
    star = np.array([[0, 1, 0, 2, 0, 3], [1, 0, 2, 0, 3, 0]])
    monkeypatch.setattr(arcs, "_MAX_AT_TWO_HOPS", 6)
    assert arcs_at_two_hops(Arcs.of_edges(star, 4)).num_arcs == 6
    monkeypatch.setattr(arcs, "_MAX_AT_TWO_HOPS", 5)
    with pytest.raises(DataError, match="more than 5 pairs of vertices at distance two: they are not supported"):
        arcs_at_two_hops(Arcs.of_edges(star, 4))
