"""Sums over the vertices of a set by how far away they are."""

from __future__ import annotations

import numpy as np

from lgl_bench.core.types import FloatArray, IntArray
from lgl_bench.kernels.arcs import Arcs

_AT_ONCE = 64


def hop_sums(arcs: Arcs, vertices: IntArray, weights: FloatArray) -> FloatArray:
    """For every vertex of a graph, the sum of weights[h] over the given vertices that are h hops away from it.

    Those further away than there are weights, and those that cannot be reached, count nothing.

    >>> path = Arcs.of_edges(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), 4)  # 0 - 1 - 2, and 3 apart
    >>> hop_sums(path, np.array([0, 3]), np.array([1.0, 0.5, 0.25])).tolist()
    [1.0, 0.5, 0.25, 1.0]

    Args:
        arcs: On the CPU, one each way for every edge.
        vertices: Different ones.
        weights: From 0 hops on.
    """
    from lgl_bench.kernels.loops import add_hops

    found = np.zeros(arcs.num_targets)
    starts, sources = arcs.starts.numpy(), arcs.sources.numpy()
    for begin in range(0, len(vertices), _AT_ONCE):
        add_hops(starts, sources, np.ascontiguousarray(vertices[begin : begin + _AT_ONCE]), weights, found)
    return found
