"""Graph convolutional network (Kipf and Welling 2017): H' = D^-1/2 (A + I) D^-1/2 H W + b."""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.propagation import spread
from lgl_bench.backbones.layers.sparse import Matrix, SparseMatrix


def convolve(inputs: Inputs, projection: Projection, h: Matrix) -> torch.Tensor:
    """One convolution; the narrower of its two matrices is the one sent along the arcs."""
    assert projection.bias is not None
    if isinstance(h, SparseMatrix) or h.shape[1] >= projection.weight.shape[1]:
        sent, into = spread(inputs, h @ projection.weight)
        return torch.addcmul(projection.bias, sent, into)
    sent, into = spread(inputs, h)
    return projection(sent * into)  # type: ignore[no-any-return]


@backbones.register("gcn")
class GCN(Backbone):
    """Graph convolution: a mean over neighbours, normalised symmetrically, with self-loops.

    Arc weights are an input, because ODIN moves them.
    """

    edge_weights = True

    def __init__(self, shape: Shape, hidden: int = 64, layers: int = 2, dropout: float = 0.5) -> None:
        super().__init__(shape, hidden, layers, dropout)
        self.projections = nn.ModuleList(Projection(*size) for size in self.sizes())

    def forward(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Embeddings and outputs."""
        return super().forward(inputs.scaled())

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One convolution."""
        projection = self.projections[layer]
        assert isinstance(projection, Projection)
        return convolve(inputs, projection, h)

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last layer."""
        self.projections[-1].grow(outputs)  # type: ignore[operator]
