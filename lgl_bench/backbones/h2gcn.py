"""H2GCN (Zhu et al. 2020), for graphs whose neighbours are often of other classes.

r_0 = ReLU(X W + b), then for k = 1..K, without weights,
r_k = [ sum over the neighbours of r_k-1, sum over the vertices at distance two of r_k-1 ], side by side. A summand of u
in the sum of v is divided by sqrt(d_u d_v), d the number of neighbours, or of vertices at distance two. A vertex is in
neither of its sums: ego and neighbours are kept apart. An isolated vertex has 0 for both.

The embedding of a linear head is [r_0, ..., r_K], which is (2^(K+1) - 1) times as wide as `hidden`; the last layer is a
linear map, which sends nothing along the arcs. With a prototype head it has `hidden` outputs, which are the embedding.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.sparse import Matrix
from lgl_bench.core.errors import UsageError
from lgl_bench.kernels import Arcs, neighbour_sum

MAX_ROUNDS = 6
"""Every round doubles the width of the one before."""


@backbones.register("h2gcn")
class H2GCN(Backbone):
    """Keeps a vertex, its neighbours and their neighbours apart; for heterophile graphs.

    Arc weights take no part: vertices at distance two are joined by no arc that could be moved.

    Args:
        shape, dropout: See `Backbone`; dropout stands before the last layer.
        hidden: Width of r_0.
        rounds: Rounds of aggregation, K.
    """

    def __init__(self, shape: Shape, hidden: int = 64, dropout: float = 0.5, rounds: int = 2) -> None:
        super().__init__(shape, hidden, layers=2, dropout=dropout)
        if not 1 <= rounds <= MAX_ROUNDS:
            raise UsageError(f"rounds = {rounds}: at least one round is needed, and at most {MAX_ROUNDS} are made")
        self.rounds = rounds
        outputs = hidden if shape.outputs is None else shape.outputs
        self.projections = nn.ModuleList([Projection(shape.inputs, hidden), Projection(self._together, outputs)])

    @property
    def _together(self) -> int:
        return ((2 << self.rounds) - 1) * self.hidden

    @property
    def width(self) -> int:
        """All rounds together for a linear head, `hidden` for a prototype head."""
        return self.hidden if self.shape.outputs is None else self._together

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """The linear map before the rounds, or the one after them."""
        return self.projections[layer](h)  # type: ignore[no-any-return]

    def body(self, inputs: Inputs) -> torch.Tensor:
        """The first linear map and all rounds."""
        found = [torch.relu(self.step(0, inputs, inputs.features))]
        for _ in range(self.rounds):
            found.append(torch.cat([_normalised(arcs, found[-1]) for arcs in (inputs.arcs, inputs.two_hops)], dim=1))
        return self.drop(torch.cat(found, dim=1))  # type: ignore[no-any-return]

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last layer."""
        self.projections[-1].grow(outputs)  # type: ignore[operator]


def _normalised(arcs: Arcs, h: torch.Tensor) -> torch.Tensor:
    """D^-1/2 A D^-1/2 H; 0 for a vertex without arcs."""
    scale = arcs.shares.sqrt()
    return neighbour_sum(arcs, h * scale) * scale
