"""Radial flows (Rezende and Mohamed 2015): a density over vectors for each class, learned by bending a normal one.

A layer moves u to u + b h (u - c) with h = 1 / (a + r), r = |u - c|, a > 0 and b > -a, which has an inverse; the
logarithm of its volume change is (d - 1) log(1 + b h) + log(1 + a b h^2). The density of z is that of N(0, 1) after all
layers, times all changes.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

_AT_ONCE = 4_000_000
"""Numbers of the (n, classes, d) of a layer; with more, classes are computed one part after the other."""


class RadialFlows(nn.Module):
    """One flow per class.

    Args:
        classes: Number of classes.
        width: Columns of z, d.
        layers: Layers of each flow.
    """

    def __init__(self, classes: int, width: int, layers: int) -> None:
        super().__init__()
        self.layers = layers
        self.centers = nn.Parameter(self._drawn(classes, layers, width))
        self.a = nn.Parameter(self._drawn(classes, layers, width)[:, :, 0].clone())
        self.b = nn.Parameter(self._drawn(classes, layers, width)[:, :, 0].clone())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """The log density of every row under every class, (n, classes)."""
        part = max(1, _AT_ONCE // max(1, z.numel()))
        flows = [torch.split(piece, part) for piece in (self.centers, self.a, self.b)]
        if len(flows[0]) == 1:
            return log_density(z, self.centers, self.a, self.b)
        # What a part needs on the way back is computed again: all of it would not fit.
        found = [checkpoint(log_density, z, *flow, use_reentrant=False) for flow in zip(*flows, strict=True)]
        return torch.cat(found, dim=1)

    def grow(self, classes: int) -> None:
        """Draws flows for the new classes."""
        width = self.centers.shape[2]
        for name in ("centers", "a", "b"):
            old = getattr(self, name).data
            fresh = self._drawn(classes - len(old), self.layers, width)
            setattr(self, name, nn.Parameter(torch.cat([old, fresh if name == "centers" else fresh[:, :, 0]])))

    @staticmethod
    def _drawn(classes: int, layers: int, width: int) -> torch.Tensor:
        bound = 1 / math.sqrt(width)
        return torch.empty(classes, layers, width).uniform_(-bound, bound)


def log_density(z: torch.Tensor, centers: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The log density of rows of z under flows: (n, d) and (classes, layers, d) to (n, classes).

    Args:
        z: (n, d).
        centers: The c of every class and layer.
        a: (classes, layers), before the softplus that makes it positive.
        b: The same; -a is added after its softplus.
    """
    d = z.shape[1]
    u = z[:, None, :].expand(len(z), len(centers), d)
    changes = z.new_zeros(len(z), len(centers))
    for layer in range(centers.shape[1]):
        own_a = nn.functional.softplus(a[:, layer])
        own_b = nn.functional.softplus(b[:, layer]) - own_a
        away = u - centers[:, layer]
        h = 1 / (own_a + torch.linalg.vector_norm(away, dim=2))
        changes = changes + (d - 1) * torch.log1p(own_b * h) + torch.log1p(own_a * own_b * h.square())
        u = u + (own_b * h)[:, :, None] * away
    return changes - u.square().sum(dim=2) / 2 - d / 2 * math.log(2 * math.pi)
