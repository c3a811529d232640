"""Dropout from 16 random bits per unit, together with the ReLU before it if there is one."""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.core.errors import UsageError
from lgl_bench.kernels import dropout


class Dropout(nn.Module):
    """Zeroes a share of the units in training and scales the rest up to keep the mean.

    Args:
        share: Share of units dropped, in [0, 1), rounded to 1/65536.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        if not 0 <= share < 1 or round(share * 65536) == 65536:
            raise UsageError(f"dropout = {share}: it must lie in [0, 1)")
        self.dropped = round(share * 65536)

    def forward(self, x: torch.Tensor, relu: bool = False) -> torch.Tensor:
        """The units that are kept, scaled; with `relu`, of those above 0."""
        if not self.training or self.dropped == 0:
            return torch.relu(x) if relu else x
        return dropout(x, self.dropped, relu)
