"""Generalized ODIN (Hsu et al. 2020): f_k = h_k / g with h_k = cos(w_k, z), g = sigmoid(BatchNorm(w_g z + b_g))."""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.heads import Head, append_rows, heads


@heads.register("genodin")
class GenOdin(Head):
    """A cosine for each class, divided by one learned confidence for the vertex."""

    linear = False

    def __init__(self, width: int, classes: int) -> None:
        super().__init__(width, classes)
        self.directions = nn.Parameter(torch.randn(classes, width))
        self.confidence = nn.Linear(width, 1)
        self.norm = nn.BatchNorm1d(1)

    def cosines(self, output: torch.Tensor) -> torch.Tensor:
        """h: cosine of every embedding with every class direction, in [-1, 1]."""
        unit = nn.functional.normalize
        return unit(output, dim=1) @ unit(self.directions, dim=1).T

    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """The cosines divided by the confidence."""
        raw = self.confidence(output)
        if self.training and len(raw) == 1:  # one vertex has no variance: the running statistics stand in
            norm = self.norm
            scaled = nn.functional.batch_norm(raw, norm.running_mean, norm.running_var, norm.weight, norm.bias)
        else:
            scaled = self.norm(raw)
        return self.cosines(output) / torch.sigmoid(scaled).clamp_min(1e-6)

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Cross-entropy."""
        return nn.functional.cross_entropy(self.logits(output), labels)

    def grow(self, classes: int) -> None:
        """Draws directions for the new classes."""
        super().grow(classes)
        self.directions = append_rows(self.directions, classes)
