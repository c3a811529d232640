from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Snapshot, Sparse
from lgl_bench.streams.stream import Stream
from tests.support.plain_graphs import YEARS, Plain, plains


def ids_of(stream: Stream, snapshot: Snapshot) -> list[int]:
    first = snapshot.first
    return [int(v) for v in stream.ids[first : first + snapshot.graph.num_vertices]]


def edges_of(stream: Stream, snapshot: Snapshot) -> list[frozenset[int]]:
    """Each edge once by id, having checked that its two arcs follow each other."""
    ids, arcs = ids_of(stream, snapshot), snapshot.graph.edges
    assert np.array_equal(arcs[:, 0::2], arcs[::-1, 1::2])
    return [frozenset((ids[a], ids[b])) for a, b in arcs[:, 0::2].T.tolist()]


def assert_is(plain: Plain, stream: Stream, snapshot: Snapshot, since: int, time: int) -> None:
    vertices, edges = plain.between(since, time)
    ids = ids_of(stream, snapshot)
    found = edges_of(stream, snapshot)
    assert len(ids) == len(vertices)
    assert set(ids) == vertices
    assert len(found) == len(edges)
    assert set(found) == edges
    rows = snapshot.graph.features
    assert isinstance(rows, Sparse) == plain.sparse
    dense = rows.dense() if isinstance(rows, Sparse) else rows
    assert dense.shape == (len(ids), 3)
    for at, v in enumerate(ids):
        assert snapshot.born[at] == plain.born[v]
        assert snapshot.labels[at] == plain.label[v]
        assert dense[at].tolist() == np.array(plain.features[v], dtype=np.float32).tolist()


@given(plains())
def test_upto_equals_the_naive_subgraph(plain: Plain) -> None:
    stream = plain.stream()
    for time in stream.times:
        snapshot = stream.upto(time)
        assert snapshot.time == time
        assert_is(plain, stream, snapshot, min(YEARS), time)


@given(plains(), st.sampled_from(YEARS), st.integers(1965, 2025))
def test_a_window_equals_the_naive_subgraph_of_its_years(plain: Plain, since: int, time: int) -> None:
    stream = plain.stream()
    if time >= stream.times[0]:
        assert_is(plain, stream, stream.upto(time, since), since, time)


@given(plains())
def test_upto_is_contained_in_the_next_year_and_holds_nothing_later(plain: Plain) -> None:
    stream = plain.stream()
    for earlier, later in itertools.pairwise([*stream.times, stream.times[-1]]):
        before, after = stream.upto(earlier), stream.upto(later)
        n, m = before.graph.num_vertices, before.graph.edges.shape[1]
        assert ids_of(stream, before) == ids_of(stream, after)[:n]
        assert np.array_equal(before.graph.edges, after.graph.edges[:, :m])
        assert before.born.max() <= earlier
        assert all(plain.born[v] <= earlier for edge in edges_of(stream, before) for v in edge)
        if later > earlier:
            assert (after.born[n:] > earlier).all()


@given(plains())
def test_the_stream_holds_every_vertex_and_counts_what_was_dropped(plain: Plain) -> None:
    stream = plain.stream()
    loops = sum(a == b for a, b in plain.edges)
    pairs = {frozenset(edge) for edge in plain.edges if edge[0] != edge[1]}
    assert stream.num_vertices == len(plain.born)
    assert stream.num_edges == len(pairs)
    assert stream.info.imported == {
        "edge_lines": len(plain.edges),
        "self_loops": loops,
        "repeated_edges": len(plain.edges) - loops - len(pairs),
    }


@given(plains())
def test_known_classes_are_those_seen_so_far_ordered_by_birth_then_id(plain: Plain) -> None:
    stream = plain.stream()
    for time in stream.times:
        births: dict[int, int] = {}
        for v, label in plain.label.items():
            if label >= 0:
                births[label] = min(plain.born[v], births.get(label, plain.born[v]))
        expected = sorted((year, k) for k, year in births.items() if year <= time)
        assert stream.known_at(time).tolist() == [k for _, k in expected]


def test_upto_copies_nothing(small: Stream) -> None:
    snapshot = small.upto(2001)
    assert np.shares_memory(snapshot.graph.edges, small.arcs)
    assert np.shares_memory(snapshot.labels, small.labels)
    assert np.shares_memory(snapshot.born, small.born)
    ours, whole = snapshot.graph.features, small.features
    if isinstance(ours, Sparse):
        assert isinstance(whole, Sparse)
        assert np.shares_memory(ours.values, whole.values)
        assert np.shares_memory(ours.indices, whole.indices)
        assert np.shares_memory(ours.indptr, whole.indptr)
    else:
        assert np.shares_memory(ours, whole)


def test_a_year_that_does_not_exist_gives_the_last_one_before_it(small: Stream) -> None:
    assert small.upto(2002).time == 2001
    assert small.upto(3000).time == 2003


def test_a_year_before_the_first_is_an_error_that_names_the_first(small: Stream) -> None:
    with pytest.raises(UsageError, match="random begins in 2000; there is nothing up to 1999"):
        small.upto(1999)


def test_the_arrays_are_sorted_by_year_then_id(small: Stream) -> None:
    assert small.ids.tolist() == [5, 3, 9, 1]
    assert small.times == (2000, 2001, 2003)
    assert small.vertex_ends == (1, 3, 4)
    assert small.edge_ends == (0, 2, 3)
    assert not small.static
