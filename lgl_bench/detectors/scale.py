"""SCALE (Xu et al. 2024): z exp(r) with r = sum(z) / sum of the largest units of z, then another detector.

The largest units are those that ASH keeps. r is 1 if they do not add up to more than 0, and at most 50 in size, so that
outputs stay finite.
"""

from __future__ import annotations

from types import MappingProxyType

import torch

from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.ash import check_percentile, largest_units
from lgl_bench.detectors.changed import ChangesEmbeddings

_LARGEST = 50.0


def scale(z: torch.Tensor, percentile: float) -> torch.Tensor:
    """Embeddings, the longer the less their largest units make up.

    >>> scale(torch.tensor([[1.0, 5.0, 2.0, 4.0]]), 50).log().sub(torch.tensor([1.0, 5.0, 2.0, 4.0]).log()).tolist()[0]
    [1.3333332538604736, 1.3333332538604736, 1.3333332538604736, 1.3333332538604736]
    """
    whole = z.double().sum(dim=1, keepdim=True)
    kept = z.double().gather(1, largest_units(z, percentile)).sum(dim=1, keepdim=True)
    positive = kept > 0
    r = torch.where(positive, whole / torch.where(positive, kept, 1.0), 1.0).clamp(-_LARGEST, _LARGEST)
    return (z.double() * r.exp()).to(z.dtype)


@detectors.register("scale")
class Scale(ChangesEmbeddings):
    """Makes an embedding longer the less its largest units make up of it, then another detector scores.

    It wraps a detector that works on outputs alone; the paper's is the energy.

    Args:
        base: The detector that scores what comes of it.
        percentile: Of each vertex's own units; those above are the largest.
    """

    grid = MappingProxyType({"percentile": (65.0, 75.0, 85.0, 95.0)})

    def __init__(self, base: Detector, percentile: float = 85.0) -> None:
        check_percentile(percentile)
        super().__init__(base)
        self.percentile = percentile

    def change(self, z: torch.Tensor, learned: float) -> torch.Tensor:
        """Scaled, every vertex by its own factor."""
        return scale(z, self.percentile)
