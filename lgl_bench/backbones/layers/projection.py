"""A linear map whose output can grow."""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones.layers.sparse import Matrix


class Projection(nn.Module):
    """x W + b with W of shape (inputs, outputs): Glorot-uniform weights, zero bias.

    Args:
        inputs: Columns of x.
        outputs: Columns of the result.
        bias: Whether there is a bias.
    """

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        nn.init.xavier_uniform_(self.weight)
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x: Matrix) -> torch.Tensor:
        """The map, of dense or sparse rows."""
        if self.bias is not None and isinstance(x, torch.Tensor):
            return torch.addmm(self.bias, x, self.weight)
        product = x @ self.weight
        return product if self.bias is None else product + self.bias

    def grow(self, outputs: int) -> None:
        """Appends outputs; those there keep their weights."""
        inputs, old = self.weight.shape
        fresh = torch.empty(inputs, outputs)
        nn.init.xavier_uniform_(fresh)
        fresh[:, :old] = self.weight.data
        self.weight = nn.Parameter(fresh)
        if self.bias is not None:
            self.bias = nn.Parameter(torch.cat([self.bias.data, torch.zeros(outputs - old)]))
