"""The graph that some vertices of a static graph span."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import BoolArray, Graph, IntArray
from lgl_bench.streams.stream import reorder


def induced(graph: Graph, keep: BoolArray) -> tuple[Graph, IntArray]:
    """The kept vertices and the edges among them, and the position each of them had."""
    vertices = np.flatnonzero(keep)
    number = np.cumsum(keep) - 1
    inside = keep[graph.edges].all(axis=0)
    edges = number[graph.edges[:, inside]]
    return Graph(reorder(graph.features, vertices), edges, len(vertices), graph.born[vertices]), vertices
