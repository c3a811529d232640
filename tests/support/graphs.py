"""Small graphs several tests share."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import Features, Graph, IntArray, Snapshot, Sparse, Task
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.stream import Stream, StreamInfo, assemble


def graph(edges: list[tuple[int, int]], features: Features) -> Graph:
    """A graph from undirected edges."""
    arcs = [arc for u, v in edges for arc in ((u, v), (v, u))]
    n = features.shape[0]
    born = np.zeros(n, dtype=np.int64)
    return Graph(features, np.array(arcs, dtype=np.int64).reshape(-1, 2).T.copy(), n, born)


def random_graph(n: int = 12, columns: int = 6, edges: int = 20, seed: int = 0, sparse: bool = False) -> Graph:
    """Random features and edges; the last vertex is isolated."""
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(rng.choice(n - 1, 2, replace=False).tolist())) for _ in range(edges)}
    dense = rng.random((n, columns)).astype(np.float32)
    return graph(sorted(pairs), to_sparse(np.where(dense < 0.6, 0, 1).astype(np.float32)) if sparse else dense)


def to_sparse(dense: np.ndarray) -> Sparse:
    """Dense rows as sparse ones."""
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))]).astype(np.int64)
    return Sparse(indptr, columns.astype(np.int32), dense[rows, columns].astype(np.float32), dense.shape[1])


def small_stream(static: bool = False, **knobs: object) -> Stream:
    """A stream of about 150 vertices whose classes are easy to tell apart; a class is born in the years 2 and 4."""
    recipe: dict[str, object] = {
        "times": (0,) if static else (0, 1, 2, 3, 4),
        "growth": (150,) if static else (30, 30, 30, 30, 30),
        "births": (4,) if static else (3, 0, 1, 0, 1),
        "isolated": 0.1,
        "signal": 1.5,
        "features": 16,
        "split": static,
        "seed": 3,
    }
    return generate(Recipe(**(recipe | knobs)), StreamInfo("small", t0=None if static else 1))


def until(stream: Stream, year: int) -> Stream:
    """The stream as it was at the end of a year."""
    cut = stream.upto(year)
    n = cut.graph.num_vertices
    return assemble(
        stream.info, stream.ids[:n], stream.born[:n], stream.labels[:n], cut.graph.features, cut.graph.edges
    )


def task_on(g: Graph, labels: IntArray, fit: IntArray, known: IntArray) -> Task:
    """A task that trains on some vertices of a graph and scores the others."""
    seen = np.full(g.num_vertices, -1, dtype=np.int64)
    seen[fit] = labels[fit]
    rest = np.setdiff1d(np.arange(g.num_vertices), fit)
    train = Snapshot(0, g, seen)
    return Task(1, "test", "", train, seen >= 0, rest, g, rest, known)


def dense_adjacency(g):
    a = np.zeros((g.num_vertices, g.num_vertices))
    a[g.edges[1], g.edges[0]] = 1
    return a
