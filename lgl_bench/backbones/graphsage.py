"""GraphSAGE with mean aggregation (Hamilton et al. 2017): h' = W_self h + W_neigh mean of neighbours' h + b.

Trained on sampled neighbourhoods; evaluated exactly, with all neighbours.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.sparse import Matrix, SparseMatrix
from lgl_bench.backbones.walks.sampled import sampled_batches
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.errors import UsageError
from lgl_bench.kernels import Arcs, neighbour_mean


@backbones.register("graphsage")
class GraphSAGE(Backbone):
    """The mean of the neighbours beside the vertex itself, trained on sampled neighbourhoods.

    An isolated vertex has the zero vector for its neighbourhood.

    Args:
        shape, hidden, layers, dropout: See `Backbone`.
        batch: Training vertices per batch; a share of them if it is below 1.
        fanout: Neighbours sampled in the first layer, and in each further one.
    """

    whole_graph = False

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

    def _combine(self, layer: int, arcs: Arcs, h: Matrix) -> torch.Tensor:
        own, neighbours = self.own[layer], self.neighbours[layer]
        assert isinstance(own, Projection) and isinstance(neighbours, Projection) and own.bias is not None
        mine = h.head(arcs.num_targets) if isinstance(h, SparseMatrix) else h[: arcs.num_targets]
        # The narrower of the two matrices is the one sent along the arcs.
        if isinstance(h, SparseMatrix) or h.shape[1] > own.weight.shape[1]:
            return own(mine) + neighbour_mean(arcs, h @ neighbours.weight)  # type: ignore[no-any-return]
        return torch.addmm(own(mine), neighbour_mean(arcs, h), neighbours.weight)
