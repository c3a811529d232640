"""Batches of training vertices with sampled neighbours; the samples depend on the seed alone.

DGL's own sampler draws from one generator per thread, so its samples change with the number of threads; here every
draw comes from torch's generator, whatever runs beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from lgl_bench.backbones.layers.block import Block
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.types import Graph, IntArray

if TYPE_CHECKING:
    from lgl_bench.backbones import Backbone


def sampled_batches(backbone: Backbone, data: TrainingData, batch: float, fanouts: Sequence[int]) -> Epoch:
    """Batches of training vertices, shuffled in every epoch, each with freshly sampled neighbours.

    The backbone's layers must compute on `inputs.block(layer)`, which is a sampled block here.

    Args:
        backbone: What is trained.
        data: What the fit learns from.
        batch: Training vertices per batch; a share of them if it is below 1.
        fanouts: Neighbours kept per vertex and layer, the first layer first.
    """
    size = int(batch) if batch >= 1 else math.ceil(batch * len(data.vertices) - 1e-9)
    sampler = NeighbourSampler(data.graph, fanouts)

    def epoch() -> Iterator[torch.Tensor]:
        for vertices in torch.split(data.vertices[torch.randperm(len(data.vertices))], size):
            read, blocks = sampler.sample(vertices.numpy())
            _, output = backbone(data.rows(torch.from_numpy(read), blocks))
            yield data.loss(output, vertices)

    return epoch


class NeighbourSampler:
    """Blocks of sampled neighbours for batches of vertices.

    Args:
        graph: The graph to sample from.
        fanouts: Neighbours kept per vertex and layer, the first layer first; all of them if there are fewer.
    """

    def __init__(self, graph: Graph, fanouts: Sequence[int]) -> None:
        order = np.argsort(graph.edges[1], kind="stable")
        self.sources = graph.edges[0][order]
        degrees = np.bincount(graph.edges[1], minlength=graph.num_vertices)
        self.starts = np.concatenate([[0], np.cumsum(degrees)])
        self.fanouts = fanouts
        self._place = np.full(graph.num_vertices, -1, dtype=np.int64)

    def sample(self, seeds: IntArray) -> tuple[IntArray, tuple[Block, ...]]:
        """The vertices whose features are read, and one block per layer, the last of which ends in the seeds."""
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
