"""Neighbour sampling that depends on the seed alone.

DGL's own sampler draws from one generator a thread, so its samples change with the number of threads; here every
draw comes from torch's generator, whatever runs beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from lgl_bench.backbones.block import Block
from lgl_bench.core.types import Graph, IntArray


class NeighbourSampler:
    """Blocks of sampled neighbours for batches of vertices.

    Args:
        graph: The graph to sample from.
        fanouts: Neighbours kept a vertex and layer, the first layer first; all of them where there are fewer.
    """

    def __init__(self, graph: Graph, fanouts: Sequence[int]) -> None:
        order = np.argsort(graph.edges[1], kind="stable")
        self.sources = graph.edges[0][order]
        degrees = np.bincount(graph.edges[1], minlength=graph.num_vertices)
        self.starts = np.concatenate([[0], np.cumsum(degrees)])
        self.fanouts = fanouts
        self._place = np.full(graph.num_vertices, -1, dtype=np.int64)

    def sample(self, seeds: IntArray) -> tuple[IntArray, tuple[Block, ...]]:
        """The vertices whose features are read, and one block a layer that ends in the seeds."""
        blocks: list[Block] = []
        for fanout in reversed(self.fanouts):
            block, seeds = self._block(seeds, fanout)
            blocks.insert(0, block)
        return seeds, tuple(blocks)

    def _block(self, targets: IntArray, fanout: int) -> tuple[Block, IntArray]:
        counts = self.starts[targets + 1] - self.starts[targets]
        first = np.cumsum(counts) - counts
        row = np.repeat(np.arange(len(targets)), counts)
        at = np.arange(len(row)) - first[row]
        arcs = self.starts[targets][row] + at
        crowded = counts > fanout
        if crowded.any():
            arcs = arcs[_kept(row, at, crowded, fanout)]
            counts = np.minimum(counts, fanout)
        read = self.sources[arcs]
        # Targets first, as a layer expects them, then whoever else is read.
        self._place[targets] = np.arange(len(targets))
        others = np.unique(read[self._place[read] < 0])
        vertices = np.concatenate([targets, others])
        self._place[others] = np.arange(len(targets), len(vertices))
        block = Block(np.concatenate([[0], np.cumsum(counts)]), self._place[read], len(vertices))
        self._place[vertices] = -1
        return block, vertices


def _kept(row: IntArray, at: IntArray, crowded: npt.NDArray[np.bool_], fanout: int) -> npt.NDArray[np.bool_]:
    """Which arcs stay: all of a vertex with few, a uniform draw of `fanout` of a crowded one's."""
    keep = np.ones(len(row), dtype=np.bool_)
    of_crowded = np.flatnonzero(crowded[row])
    keys = torch.rand(len(of_crowded), dtype=torch.float64).numpy()
    order = of_crowded[np.lexsort((keys, row[of_crowded]))]
    # Rows stand together before and after sorting, so the i-th of a row in the new order has rank at[i].
    keep[order] = at[of_crowded] < fanout
    return keep
