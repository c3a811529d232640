"""APPNP (Gasteiger et al. 2019): an MLP predicts, and personalised PageRank spreads the predictions.

H = MLP(X), Z_0 = H, Z_k+1 = (1 - t) A_hat Z_k + t H with the teleport t; the output is Z_K.

The embedding of a linear head is the last hidden layer of the MLP. The last layer is what follows: the linear map to
the classes, then all steps; so the narrow matrix goes along the arcs, as published. With a prototype head the linear
map keeps the width, and the embedding is Z_K.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.propagation import check_share, check_steps, pagerank
from lgl_bench.backbones.layers.sparse import Matrix


@backbones.register("appnp")
class APPNP(Backbone):
    """An MLP predicts, and personalised PageRank spreads the predictions over the graph.

    Args:
        shape, hidden, dropout: See `Backbone`.
        layers: Linear layers of the MLP.
        steps: Steps of PageRank, K.
        teleport: Share of its own prediction that a vertex takes again in every step.
    """

    edge_weights = True

    def __init__(
        self,
        shape: Shape,
        hidden: int = 64,
        layers: int = 2,
        dropout: float = 0.5,
        steps: int = 10,
        teleport: float = 0.1,
    ) -> None:
        super().__init__(shape, hidden, layers, dropout)
        check_steps(steps)
        check_share("teleport", teleport)
        self.steps = steps
        self.teleport = teleport
        self.projections = nn.ModuleList(Projection(*size) for size in self.sizes())

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One linear layer; after the last, the steps along the arcs."""
        found: torch.Tensor = self.projections[layer](h)
        return self.spread(inputs, found) if layer == self.layers - 1 else found

    def spread(self, inputs: Inputs, h: torch.Tensor) -> torch.Tensor:
        """What the vertices make of each other's predictions."""
        return pagerank(inputs, h, self.steps, self.teleport)

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last layer; every column spreads by itself, so old outputs stay as they are."""
        self.projections[-1].grow(outputs)  # type: ignore[operator]
