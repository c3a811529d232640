"""IsoMax+ (Macedo and Ludermir 2022): logits are negative distances to learned prototypes on the unit sphere.

logit_k = -|d| * ||z/|z| - p_k/|p_k| ||, d learned from 1, prototypes from N(0, 1); an entropic scale of 10 multiplies
the logits in training and is 1 after.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from lgl_bench.heads import Head, append_rows, heads


class _Distances(torch.autograd.Function):
    """`torch.cdist` with its own gradient, which can be differentiated once more: torch's cannot."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        found = torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
        ctx.save_for_backward(x, y, found)
        return found

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        x, y, found = ctx.saved_tensors
        if not torch.is_grad_enabled():  # nobody will differentiate this: what torch itself computes
            back = torch.ops.aten._cdist_backward
            into_x = back(grad.contiguous(), x, y, 2.0, found)
            return into_x, back(grad.T.contiguous(), y, x, 2.0, found.T.contiguous())
        share = torch.where(found == 0, 0.0, grad / torch.where(found == 0, 1.0, found))
        return share.sum(1)[:, None] * x - share @ y, share.sum(0)[:, None] * y - share.T @ x


def unit_distances(z: torch.Tensor, prototypes: torch.Tensor) -> torch.Tensor:
    """Distances between the unit vectors of z and of the prototypes, computed directly.

    Through a matrix product small distances would drown in rounding.
    """
    unit_z = nn.functional.normalize(z, dim=1)
    unit_p = nn.functional.normalize(prototypes, dim=1)
    found: torch.Tensor = _Distances.apply(unit_z, unit_p)  # type: ignore[no-untyped-call]
    return found


@heads.register("isomax+")
class IsoMaxPlus(Head):
    """Distances to one learned prototype per class, on the unit sphere."""

    linear = False
    entropic_scale = 10.0
    """Factor of the logits in training."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__(width, classes)
        self.prototypes = nn.Parameter(torch.randn(classes, width))
        self.distance_scale = nn.Parameter(torch.ones(1))

    def distances(self, output: torch.Tensor) -> torch.Tensor:
        """Distance of every embedding to every prototype, in [0, 2]."""
        return unit_distances(output, self.prototypes)

    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """Negative scaled distances."""
        return -self.distance_scale.abs() * self.distances(output)

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Cross-entropy of the logits times the entropic scale."""
        return nn.functional.cross_entropy(self.entropic_scale * self.logits(output), labels)

    def grow(self, classes: int) -> None:
        """Draws prototypes for the new classes."""
        super().grow(classes)
        self.prototypes = append_rows(self.prototypes, classes)
