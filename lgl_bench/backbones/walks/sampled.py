"""Batches of training vertices with sampled neighbours; the samples depend on the seed alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.types import IntArray
from lgl_bench.kernels import Arcs, sample_arcs

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
    sampler = NeighbourSampler(inputs_of(data.graph).arcs, fanouts)

    def epoch() -> Iterator[torch.Tensor]:
        for vertices in torch.split(data.vertices[torch.randperm(len(data.vertices))], size):
            read, blocks = sampler.sample(vertices.numpy())
            _, output = backbone(data.rows(torch.from_numpy(read), blocks))
            yield data.loss(output, vertices)

    return epoch


class NeighbourSampler:
    """Blocks of sampled neighbours for batches of vertices.

    Args:
        arcs: Of the graph to sample from.
        fanouts: Neighbours kept per vertex and layer, the first layer first; all of them if there are fewer.
    """

    def __init__(self, arcs: Arcs, fanouts: Sequence[int]) -> None:
        self.arcs = arcs
        self.fanouts = fanouts
        self._place = np.full(arcs.num_sources, -1, dtype=np.int64)

    def sample(self, seeds: IntArray) -> tuple[IntArray, tuple[Arcs, ...]]:
        """The vertices whose features are read, and one block per layer, the last of which ends in the seeds."""
        blocks: list[Arcs] = []
        for fanout in reversed(self.fanouts):
            block, seeds = sample_arcs(self.arcs, seeds, fanout, self._place)
            blocks.insert(0, block)
        return seeds, tuple(blocks)
