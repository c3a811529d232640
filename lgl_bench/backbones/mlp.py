"""A plain multi-layer perceptron: the graph-free baseline."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.sparse import Matrix, slice_rows

# Outside training, vertices are answered so many at a time: each depends on its own row alone.
_ROWS = 1 << 16


@backbones.register("mlp")
class MLP(Backbone):
    """Linear layers with ReLU and dropout; it reads no edges."""

    def __init__(self, shape: Shape, hidden: int = 64, layers: int = 2, dropout: float = 0.5) -> None:
        super().__init__(shape, hidden, layers, dropout)
        self.projections = nn.ModuleList(Projection(*size) for size in self.sizes())

    def forward(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Embeddings and outputs; outside training without holding the hidden units of all vertices."""
        rows = inputs.features.shape[0]
        if self.training or rows <= _ROWS:
            return super().forward(inputs)
        parts = []
        for start in range(0, rows, _ROWS):
            part = inputs.moved(slice_rows(inputs.features, start, min(start + _ROWS, rows)), inputs.weights)
            # The way back computes them again.
            parts.append(checkpoint(super().forward, part, use_reentrant=False, preserve_rng_state=False))
        z, output = (torch.cat(found) for found in zip(*parts, strict=True))
        return (output if self.shape.outputs is None else z), output

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One linear layer."""
        return self.projections[layer](h)  # type: ignore[no-any-return]

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last layer."""
        self.projections[-1].grow(outputs)  # type: ignore[operator]
