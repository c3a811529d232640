from __future__ import annotations

import hashlib
import itertools
import struct
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.types import Sparse
from lgl_bench.streams.checksum import prefix_checksums, stream_checksum
from lgl_bench.streams.raw import build
from lgl_bench.streams.stream import Stream, StreamInfo, same
from tests.support.plain_graphs import Plain, plains


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
