"""ASH-B (Djurisic et al. 2023): a vertex's largest units all set to sum(z) / k, the others to 0, then another detector.

k = n - round(n * percentile / 100) of the n units are kept, at least one; of equal units the first ones.
"""

from __future__ import annotations

from types import MappingProxyType

import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.changed import ChangesEmbeddings


def largest_units(z: torch.Tensor, percentile: float) -> torch.Tensor:
    """The places of each row's units above its own percentile, (n, k)."""
    width = z.shape[1]
    kept = max(1, width - round(width * percentile / 100))
    return z.argsort(dim=1, descending=True, stable=True)[:, :kept]


def ash(z: torch.Tensor, percentile: float) -> torch.Tensor:
    """Binarised embeddings: the sum of each row is shared out evenly among its largest units.

    >>> ash(torch.tensor([[1.0, 5.0, 2.0, 4.0]]), 50).tolist()
    [[0.0, 6.0, 0.0, 6.0]]
    """
    places = largest_units(z, percentile)
    share = z.double().sum(dim=1, keepdim=True) / places.shape[1]
    return torch.zeros_like(z).scatter(1, places, share.to(z.dtype).expand_as(places))


def check_percentile(percentile: float) -> None:
    """Refuses a percentile that leaves no unit."""
    if not 0 <= percentile < 100:
        raise UsageError(f"percentile = {percentile}: it must lie in [0, 100)")


@detectors.register("ash")
class Ash(ChangesEmbeddings):
    """Sets the largest units of each embedding to one value and the others to 0, then another detector scores.

    It wraps a detector that works on outputs alone; the paper's is the energy.

    Args:
        base: The detector that scores what is left.
        percentile: Of each vertex's own units; those below are set to 0.
    """

    grid = MappingProxyType({"percentile": (65.0, 80.0, 90.0, 95.0)})

    def __init__(self, base: Detector, percentile: float = 90.0) -> None:
        check_percentile(percentile)
        super().__init__(base)
        self.percentile = percentile

    def change(self, z: torch.Tensor, learned: float) -> torch.Tensor:
        """Binarised."""
        return ash(z, self.percentile)
