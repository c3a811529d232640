"""Graph-MLP (Hu et al. 2021): an MLP that learns the graph through a contrastive loss and reads no edges after.

Blocks of (linear, GELU, LayerNorm, dropout), then the classifier. The loss on the last block's output is in
`lgl_bench.training.contrastive`.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Shape, backbones
from lgl_bench.backbones.mlp import MLP
from lgl_bench.core.errors import UsageError


@backbones.register("graph-mlp")
class GraphMLP(MLP):
    """Graph-MLP.

    Args:
        shape: Features in, classes out.
        hidden: Width of the hidden layers.
        layers: Number of linear layers, the classifier included.
        dropout: Share of hidden units dropped.
        r: Power of the normalised adjacency in the contrastive loss.
        beta: Weight of the contrastive loss.
        tau: Its temperature.
        batch: Vertices drawn per step; see `lgl_bench.training.batches.draw_batch`.
    """

    batching = "drawn"

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
