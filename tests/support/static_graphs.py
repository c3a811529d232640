"""A graph without years that static protocols are tested on, and what is read off a graph."""

from __future__ import annotations

import numpy as np

from lgl_bench.streams.stream import StreamInfo, assemble

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
