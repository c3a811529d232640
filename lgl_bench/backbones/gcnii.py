"""GCNII (Chen et al. 2020): a deep GCN with initial residual and identity mapping.

H_0 = ReLU(X W_in + b), then for l = 1..L
H_l = ReLU( M ((1 - beta_l) I + beta_l W_l) ) with M = (1 - a) A_hat H_l-1 + a H_0 and beta_l = log(1 + lambda / l),
then a linear map. Dropout stands before every layer; H_0 is not dropped where it comes in again.

The embedding of a linear head is H_L, and its last layer the linear map, which sends nothing along the arcs.
"""

from __future__ import annotations

import math

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.propagation import check_share, propagate
from lgl_bench.backbones.layers.sparse import Matrix
from lgl_bench.core.errors import UsageError


@backbones.register("gcnii")
class GCNII(Backbone):
    """A deep graph convolution: every layer takes in the first one again.

    Args:
        shape, hidden, dropout: See `Backbone`.
        layers: Convolutions, L; the linear maps before and after them are not counted, as in the paper.
        residual: Share of H_0 in every convolution, a.
        identity: lambda; the smaller, the nearer is every weight matrix to the identity.
    """

    edge_weights = True
    own_sizes = frozenset({"layers"})

    def __init__(
        self,
        shape: Shape,
        hidden: int = 64,
        layers: int = 8,
        dropout: float = 0.5,
        residual: float = 0.1,
        identity: float = 0.5,
    ) -> None:
        super().__init__(shape, hidden, layers, dropout)
        check_share("residual", residual)
        if not 0 <= identity < math.inf:
            raise UsageError(f"identity = {identity}: it must be finite and at least 0")
        self.residual = residual
        self.identity = identity
        outputs = hidden if shape.outputs is None else shape.outputs
        self.projections = nn.ModuleList([Projection(shape.inputs, hidden), Projection(hidden, outputs)])
        self.convolutions = nn.ModuleList(Projection(hidden, hidden, bias=False) for _ in range(layers))

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """The linear map before the convolutions, layer 0, or the one after them."""
        return self.projections[min(layer, 1)](h)  # type: ignore[no-any-return]

    def body(self, inputs: Inputs) -> torch.Tensor:
        """The first linear map and the convolutions."""
        inputs = inputs.scaled()
        first = torch.relu(self.step(0, inputs, inputs.features))
        h: torch.Tensor = self.drop(first)
        for number, weight in enumerate(self.convolutions, start=1):
            mixed = torch.lerp(propagate(inputs, h), first, self.residual)
            beta = math.log(1 + self.identity / number)
            assert isinstance(weight, Projection)
            h = self.drop(torch.addmm(mixed, mixed, weight.weight, beta=1 - beta, alpha=beta), relu=True)
        return h

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last linear map."""
        self.projections[-1].grow(outputs)  # type: ignore[operator]
