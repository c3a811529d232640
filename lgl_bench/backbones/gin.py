"""Graph isomorphism network (Xu et al. 2019): h'_v = MLP( (1 + eps) h_v + sum over neighbours u of h_u ).

The MLP is linear, BatchNorm, ReLU, linear; eps is learned, from 0. BatchNorm's statistics are those of the training
graph, running means over the steps of the fit; at evaluation they are frozen. They are saved with the weights, and a
model that grows keeps them.

The embedding of a linear head is the input of the last such layer, which sends it along the arcs once more.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.sparse import Matrix, SparseMatrix
from lgl_bench.kernels import neighbour_sum, weighted_sum


class SumLayer(nn.Module):
    """One layer: the sum over a vertex and its neighbours, then a perceptron of two linear maps."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(()))
        self.first = Projection(inputs, hidden, bias=False)  # BatchNorm takes every constant away
        self.norm = nn.BatchNorm1d(hidden)
        self.second = Projection(hidden, outputs)

    def forward(self, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """The narrower of the two matrices is the one sent along the arcs."""
        if isinstance(h, SparseMatrix) or h.shape[1] >= self.first.weight.shape[1]:
            found = self._sum(inputs, self.first(h))
        else:
            found = self.first(self._sum(inputs, h))
        return self.second(torch.relu(self.norm(found)))  # type: ignore[no-any-return]

    def _sum(self, inputs: Inputs, h: torch.Tensor) -> torch.Tensor:
        if inputs.weights is None:
            return torch.addcmul(neighbour_sum(inputs.arcs, h), 1 + self.eps, h)
        # The self-loop has a weight too, so its 1 is among the arcs.
        return torch.addcmul(weighted_sum(inputs.looped, h, inputs.weights), self.eps, h)


@backbones.register("gin")
class GIN(Backbone):
    """Sums over neighbours, each layer an MLP with batch normalisation.

    An isolated vertex has its own value alone.

    Args:
        shape, layers, dropout: See `Backbone`.
        hidden: Width of the hidden layers, those inside the perceptrons too.
    """

    edge_weights = True

    def __init__(self, shape: Shape, hidden: int = 64, layers: int = 2, dropout: float = 0.5) -> None:
        super().__init__(shape, hidden, layers, dropout)
        self.convolutions = nn.ModuleList(SumLayer(inputs, hidden, outputs) for inputs, outputs in self.sizes())

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One layer of sums."""
        return self.convolutions[layer](inputs, h)  # type: ignore[no-any-return]

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last linear map; nothing before it changes."""
        self.convolutions[-1].second.grow(outputs)  # type: ignore[operator, union-attr]
