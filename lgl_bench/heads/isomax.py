"""IsoMax+ (Macedo and Ludermir 2022): logits are negative distances to learned prototypes on the unit sphere.

logit_k = -|d| * ||z/|z| - p_k/|p_k| ||, d learned from 1, prototypes from N(0, 1); an entropic scale of 10 multiplies
the logits in training and is 1 after.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.heads import Head, append_rows, heads


def unit_distances(z: torch.Tensor, prototypes: torch.Tensor) -> torch.Tensor:
    """Distances between the unit vectors of z and of the prototypes, computed directly.

    Through a matrix product small distances would drown in rounding.
    """
    unit_z = nn.functional.normalize(z, dim=1)
    unit_p = nn.functional.normalize(prototypes, dim=1)
    return torch.cdist(unit_z, unit_p, compute_mode="donot_use_mm_for_euclid_dist")


@heads.register("isomax+")
class IsoMaxPlus(Head):
    """One prototype per class."""

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
