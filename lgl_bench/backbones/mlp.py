"""A plain multi-layer perceptron: the graph-free baseline."""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.sparse import Matrix


@backbones.register("mlp")
class MLP(Backbone):
    """Linear layers with ReLU and dropout; it reads no edges."""

    def __init__(self, shape: Shape, hidden: int = 64, layers: int = 2, dropout: float = 0.5) -> None:
        super().__init__(shape, hidden, layers, dropout)
        self.projections = nn.ModuleList(Projection(*size) for size in self.sizes())

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One linear layer."""
        return self.projections[layer](h)  # type: ignore[no-any-return]

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last layer."""
        self.projections[-1].grow(outputs)  # type: ignore[operator]
