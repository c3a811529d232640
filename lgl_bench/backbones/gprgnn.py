"""GPR-GNN (Chien et al. 2021): an MLP predicts, and powers of A_hat with learned weights spread the predictions.

H = MLP(X), the output is sum_k gamma_k A_hat^k H for k = 0..K. The gammas start as the weights of personalised
PageRank, gamma_k = t (1 - t)^k and gamma_K = (1 - t)^K. They may become negative, which tells neighbours of other
classes apart: for heterophile graphs.

Embedding and last layer are those of `appnp`.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Shape, backbones
from lgl_bench.backbones.appnp import APPNP
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.propagation import propagate


@backbones.register("gprgnn")
class GPRGNN(APPNP):
    """An MLP predicts, and steps over the graph with learned weights spread it; for heterophile graphs too.

    Args:
        shape, hidden, layers, dropout: See `APPNP`.
        steps: The highest power, K.
        teleport: Of the PageRank whose weights the powers start with.
    """

    def __init__(
        self,
        shape: Shape,
        hidden: int = 64,
        layers: int = 2,
        dropout: float = 0.5,
        steps: int = 10,
        teleport: float = 0.1,
    ) -> None:
        super().__init__(shape, hidden, layers, dropout, steps, teleport)
        weights = [teleport * (1 - teleport) ** k for k in range(steps)]
        self.gamma = nn.Parameter(torch.tensor([*weights, (1 - teleport) ** steps]))

    def spread(self, inputs: Inputs, h: torch.Tensor) -> torch.Tensor:
        """The weighted powers, one step along the arcs for each."""
        inputs = inputs.scaled()
        found = self.gamma[0] * h
        for weight in self.gamma[1:]:
            h = propagate(inputs, h)
            found = torch.addcmul(found, weight, h)
        return found
