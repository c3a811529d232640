"""Graphs as dictionaries, drawn by hypothesis: the naive twin of a stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from lgl_bench.streams.importers.files import to_sparse
from lgl_bench.streams.raw import RawGraph, build
from lgl_bench.streams.stream import Stream, StreamInfo


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
