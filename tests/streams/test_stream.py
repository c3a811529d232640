from __future__ import annotations

import hashlib
import itertools
import struct
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Snapshot, Sparse
from lgl_bench.streams.checksum import prefix_checksums, stream_checksum
from lgl_bench.streams.importers.files import to_sparse
from lgl_bench.streams.raw import RawGraph, build
from lgl_bench.streams.store import open_stream, write_stream
from lgl_bench.streams.stream import Stream, StreamInfo, same


@dataclass(frozen=True)
class Plain:
    """A graph as dictionaries by vertex id and a list of id pairs: nothing here knows of arrays."""

    born: dict[int, int]
    label: dict[int, int]
    features: dict[int, tuple[float, ...]]
    edges: list[tuple[int, int]]
    split: dict[int, int] | None
    sparse: bool

    def raw(self, order: list[int] | None = None) -> RawGraph:
        ids = order or list(self.born)
        dense = np.array([self.features[v] for v in ids], dtype=np.float32)
        return RawGraph(
            ids=np.array(ids),
            born=np.array([self.born[v] for v in ids]),
            labels=np.array([self.label[v] for v in ids]),
            features=to_sparse(dense) if self.sparse else dense,
            edges=np.array(self.edges, dtype=np.int64).reshape(-1, 2).T,
            split=None if self.split is None else np.array([self.split[v] for v in ids], dtype=np.int8),
        )

    def stream(self) -> Stream:
        return build(self.raw(), StreamInfo("random"))

    def between(self, since: int, time: int) -> tuple[set[int], set[frozenset[int]]]:
        """Ids and edges of the graph of the vertices born from `since` to `time`."""
        alive = {v for v, year in self.born.items() if since <= year <= time}
        return alive, {frozenset(edge) for edge in self.edges if alive >= set(edge) and len(set(edge)) == 2}


YEARS = [-3, 1971, 1986, 1987, 1990, 2020]


@st.composite
def plains(draw: st.DrawFn, split: bool | None = None) -> Plain:
    ids = draw(st.lists(st.integers(0, 40) | st.integers(10**9, 10**12), min_size=1, max_size=9, unique=True))
    vertex = st.sampled_from(ids)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=16))
    edges += draw(st.lists(st.sampled_from([(b, a) for a, b in edges]), max_size=3)) if edges else []
    row = st.tuples(*[st.sampled_from([0.0, 0.0, 1.0, -2.5, 1e-30])] * 3)
    has_split = draw(st.booleans()) if split is None else split
    return Plain(
        born={v: draw(st.sampled_from(YEARS)) for v in ids},
        label={v: draw(st.integers(-1, 3)) for v in ids},
        features={v: draw(row) for v in ids},
        edges=edges,
        split={v: draw(st.integers(0, 3)) for v in ids} if has_split else None,
        sparse=draw(st.booleans()),
    )


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


@given(plains())
def test_writing_and_reading_gives_the_same_stream_and_checksum(plain: Plain) -> None:
    stream = plain.stream()
    with tempfile.TemporaryDirectory() as folder:
        written = open_stream(write_stream(stream, Path(folder) / "x"))
    assert same(stream, written)
    assert written.info == stream.info
    assert prefix_checksums(written) == prefix_checksums(stream)


@given(plains(), st.data())
def test_the_checksum_does_not_depend_on_the_order_of_rows_or_the_direction_of_edges(
    plain: Plain, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(list(plain.born)))
    edges = [data.draw(st.permutations(edge)) for edge in data.draw(st.permutations(plain.edges))]
    shuffled = replace(plain, edges=[(a, b) for a, b in edges])
    stream = build(shuffled.raw(list(order)), StreamInfo("another name", t0=5))
    assert same(stream, plain.stream())
    assert stream_checksum(stream) == stream_checksum(plain.stream())


@given(plains(split=True))
def test_the_checksum_changes_with_every_single_part(plain: Plain) -> None:
    v = next(iter(plain.born))
    assert plain.split is not None
    row = plain.features[v]
    pairs = {frozenset(edge) for edge in plain.edges if edge[0] != edge[1]}
    others: list[dict[str, Any]] = [
        {"label": plain.label | {v: plain.label[v] + 1}},
        {"split": plain.split | {v: (plain.split[v] + 1) % 4}},
        {"split": None},
        {"features": plain.features | {v: (row[0] + 1.0, *row[1:])}},
        {"features": plain.features | {v: (*row[:-1], row[-1] + 1.0)}},
        {"born": plain.born | {v: 2021}},
        {"sparse": not plain.sparse},
    ]
    if pairs:
        gone = min(pairs, key=sorted)
        others.append({"edges": [edge for edge in plain.edges if frozenset(edge) != gone]})
    more = [(a, b) for a, b in itertools.combinations(plain.born, 2) if frozenset((a, b)) not in pairs]
    if more:
        others.append({"edges": [*plain.edges, more[0]]})
    checksums = {stream_checksum(replace(plain, **change).stream()) for change in [{}, *others]}
    assert len(checksums) == len(others) + 1


@given(plains(), st.data())
def test_appending_a_year_leaves_the_checksums_of_earlier_prefixes_as_they_were(
    plain: Plain, data: st.DataObject
) -> None:
    before = prefix_checksums(plain.stream())
    new = data.draw(st.integers(0, 10**6).filter(lambda v: v not in plain.born))
    end = data.draw(st.sampled_from(list(plain.born)))
    grown = replace(
        plain,
        born=plain.born | {new: 2021},
        label=plain.label | {new: 4},
        features=plain.features | {new: (3.0, 0.0, 0.0)},
        edges=[(new, end), *plain.edges],
        split=None if plain.split is None else plain.split | {new: 1},
    )
    after = prefix_checksums(grown.stream())
    assert {time: after[time] for time in before} == before
    assert after[2021] not in before.values()


@pytest.fixture(params=["dense", "sparse"])
def small(request: pytest.FixtureRequest) -> Stream:
    return Plain(
        born={5: 2000, 3: 2001, 9: 2001, 1: 2003},
        label={5: 0, 3: 1, 9: -1, 1: 2},
        features={5: (1.0, 0.0), 3: (0.0, 1.0), 9: (0.0, 0.0), 1: (2.0, 3.0)},
        edges=[(5, 3), (3, 1), (9, 5)],
        split=None,
        sparse=request.param == "sparse",
    ).stream()


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


def test_features_can_be_left_out_when_a_stream_is_opened(small: Stream, tmp_path: Path) -> None:
    without = open_stream(write_stream(small, tmp_path / "x"), features=False)
    assert without.features.shape == (4, 0)
    assert same(replace(small, features=np.zeros((4, 0), dtype=np.float32)), without)


def test_the_checksum_of_a_known_stream_never_changes_from_release_to_release(small: Stream) -> None:
    kind = "sparse" if isinstance(small.features, Sparse) else "dense"
    assert (
        stream_checksum(small)
        == {
            "dense": "f438ac5a077c25a0db561497f73a9097bcb51b1675cecdb3168a95b3a7e36431",
            "sparse": "298cec782367b9c17566118f611919501b5807810b2dee67ff8de876eb2fee05",
        }[kind]
    )


def test_the_checksum_can_be_computed_by_hand(small: Stream) -> None:
    def longs(*values: int) -> bytes:
        return struct.pack(f"<{len(values)}q", *values)

    def rows(*values: tuple[float, float]) -> bytes:
        if not isinstance(small.features, Sparse):
            return struct.pack(f"<{2 * len(values)}f", *itertools.chain(*values))
        stored = [[(k, x) for k, x in enumerate(row) if x] for row in values]
        flat = list(itertools.chain(*stored))
        pointers = longs(0, *itertools.accumulate(map(len, stored)))
        indices = struct.pack(f"<{len(flat)}i", *(k for k, _ in flat))
        return pointers + indices + struct.pack(f"<{len(flat)}f", *(x for _, x in flat))

    kind = b"sparse" if isinstance(small.features, Sparse) else b"dense"
    state = hashlib.sha256(b"lgl-bench stream 1 " + kind + b" 2 False\n")
    # the year, how many vertices and edges; ids, labels; later ends, earlier ends; features
    state.update(b"2000 1 0\n" + longs(5) + longs(0) + rows((1.0, 0.0)))
    assert prefix_checksums(small)[2000] == state.hexdigest()
    state.update(b"2001 2 2\n" + longs(3, 9) + longs(1, -1) + longs(3, 9, 5, 5))
    state.update(rows((0.0, 1.0), (0.0, 0.0)))
    state.update(b"2003 1 1\n" + longs(1) + longs(2) + longs(1, 3) + rows((2.0, 3.0)))
    assert stream_checksum(small) == state.hexdigest()
