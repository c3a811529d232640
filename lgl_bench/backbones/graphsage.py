"""GraphSAGE with mean aggregation (Hamilton et al. 2017): h' = W_self h + W_neigh mean of neighbours' h + b.

Trained on sampled neighbourhoods; evaluated exactly, with all neighbours, layer by layer and in batches.
"""

from __future__ import annotations

import dgl
import dgl.ops
import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.block import Block
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.sparse import Matrix, SparseMatrix, take_rows
from lgl_bench.backbones.walks.sampled import sampled_batches
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.errors import UsageError


@backbones.register("graphsage")
class GraphSAGE(Backbone):
    """An isolated vertex has the zero vector for its neighbourhood.

    Args:
        shape, hidden, layers, dropout: See `Backbone`.
        batch: Training vertices per batch; a share of them if it is below 1.
        fanout: Neighbours sampled in the first layer, and in each further one.
    """

    def __init__(
        self,
        shape: Shape,
        hidden: int = 64,
        layers: int = 2,
        dropout: float = 0.5,
        batch: float = 512,
        fanout: tuple[int, int] = (25, 5),
    ) -> None:
        super().__init__(shape, hidden, layers, dropout)
        if batch <= 0 or min(fanout) < 1:
            raise UsageError(f"batch = {batch}, fanout = {fanout}: both must be positive")
        self.batch = batch
        self.fanouts = [fanout[0], *[fanout[1]] * (layers - 1)]
        self.own = nn.ModuleList(Projection(*size) for size in self.sizes())
        self.neighbours = nn.ModuleList(Projection(*size, bias=False) for size in self.sizes())

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One layer, on the whole graph or on a sampled block."""
        return self._combine(layer, inputs.block(layer), h)

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last layer."""
        self.own[-1].grow(outputs)  # type: ignore[operator]
        self.neighbours[-1].grow(outputs)  # type: ignore[operator]

    def batches(self, data: TrainingData) -> Epoch:
        """Batches of training vertices with sampled neighbours."""
        return sampled_batches(self, data, self.batch, self.fanouts)

    def infer(self, inputs: Inputs, batch: int = 65_536) -> tuple[torch.Tensor, torch.Tensor]:
        """Layer by layer, a batch of vertices at a time, each with all its neighbours."""
        vertices = torch.arange(inputs.graph.num_nodes())
        if len(vertices) <= batch:
            return self(inputs)  # type: ignore[no-any-return]
        h: Matrix = inputs.features
        z: torch.Tensor | None = None
        for layer in range(self.layers):
            if layer == self.layers - 1 and self.shape.outputs is not None:
                assert isinstance(h, torch.Tensor)
                z = h
            parts = []
            for chunk in torch.split(vertices, batch):
                block = dgl.to_block(dgl.in_subgraph(inputs.graph, chunk), chunk)
                part = self._combine(layer, block, take_rows(h, block.srcdata[dgl.NID]))
                parts.append(self.after(layer, part) if layer < self.layers - 1 else part)
            h = torch.cat(parts)
        assert isinstance(h, torch.Tensor)
        return (h if z is None else z), h

    def _combine(self, layer: int, graph: Block | dgl.DGLGraph, h: Matrix) -> torch.Tensor:
        own, neighbours = self.own[layer], self.neighbours[layer]
        assert isinstance(own, Projection) and isinstance(neighbours, Projection) and own.bias is not None
        targets = graph.targets if isinstance(graph, Block) else graph.num_dst_nodes()
        if isinstance(h, SparseMatrix) or h.shape[1] > own.weight.shape[1]:
            # One product for both parts: the features are read once.
            both = h @ torch.cat([own.weight, neighbours.weight], dim=1)
            mine, sent = torch.split(both, own.weight.shape[1], dim=1)
            return mine[:targets] + own.bias + _mean(graph, sent.contiguous())
        return own(h[:targets]) + neighbours(_mean(graph, h))  # type: ignore[no-any-return]


def _mean(graph: Block | dgl.DGLGraph, h: torch.Tensor) -> torch.Tensor:
    """Mean over the arcs into each vertex."""
    return graph.mean(h) if isinstance(graph, Block) else dgl.ops.copy_u_mean(graph, h)
