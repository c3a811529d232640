"""Graph-MLP (Hu et al. 2021): an MLP that learns the graph through a contrastive loss and reads no edges after.

Blocks of (linear, GELU, LayerNorm, dropout), then the classifier. The loss on the last block's output is in
`lgl_bench.backbones.layers.contrastive`.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from lgl_bench.backbones import Shape, backbones
from lgl_bench.backbones.layers.contrastive import Neighbourhood, contrastive_loss
from lgl_bench.backbones.mlp import MLP
from lgl_bench.backbones.walks.drawn import draw_vertices
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.errors import UsageError


@backbones.register("graph-mlp")
class GraphMLP(MLP):
    """An MLP that learns the graph through a contrastive loss and reads no edges afterwards.

    Args:
        shape, hidden, layers, dropout: See `Backbone`; the classifier is one of the layers.
        r: Power of the normalised adjacency in the contrastive loss.
        beta: Weight of the contrastive loss.
        tau: Its temperature.
        batch: Vertices drawn per step; see `draw_vertices`.
    """

    whole_graph = False

    def __init__(
        self,
        shape: Shape,
        hidden: int = 256,
        layers: int = 2,
        dropout: float = 0.6,
        r: int = 2,
        beta: float = 1.0,
        tau: float = 1.0,
        batch: int = 2000,
    ) -> None:
        super().__init__(shape, hidden, layers, dropout)
        if r < 1 or beta < 0 or tau <= 0 or batch < 2:
            raise UsageError(
                f"r = {r}, beta = {beta}, tau = {tau}, batch = {batch}: r >= 1, beta >= 0, tau > 0, batch >= 2"
            )
        self.r = r
        self.beta = beta
        self.tau = tau
        self.batch = batch
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(layers - 1))

    def after(self, layer: int, h: torch.Tensor) -> torch.Tensor:
        """GELU, LayerNorm, dropout."""
        return self.drop(self.norms[layer](nn.functional.gelu(h)))  # type: ignore[no-any-return]

    def batches(self, data: TrainingData) -> Epoch:
        """One step on drawn vertices: the head's loss of those that are trained on, and the contrastive loss of all."""
        neighbourhood = Neighbourhood(data.graph, self.r) if self.beta else None

        def epoch() -> Iterator[torch.Tensor]:
            vertices = draw_vertices(data, self.batch)
            inputs = data.rows(vertices)
            h = self.body(inputs)
            loss = h.new_zeros(())
            trained = (data.labels[vertices] >= 0).nonzero().flatten()
            if len(trained):
                output = self.last(inputs, h)
                loss = loss + data.loss(output[trained.to(data.device)], vertices[trained])
            if neighbourhood is not None:
                parts = neighbourhood.between(vertices.numpy())
                row, col, gamma = (torch.from_numpy(part).to(data.device) for part in parts)
                loss = loss + self.beta * contrastive_loss(h, row, col, gamma, self.tau)
            if loss.requires_grad:
                yield loss

        return epoch
