"""ReAct (Sun et al. 2021): embeddings clipped at a percentile of the training ones, then another detector."""

from __future__ import annotations

import numpy as np
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.changed import ChangesEmbeddings


@detectors.register("react")
class React(ChangesEmbeddings):
    """Clips embeddings at a percentile of the training ones, then another detector scores.

    It wraps a detector that works on outputs alone.

    Args:
        base: The detector that scores what is left.
        percentile: Over all units of the training embeddings.
    """

    def __init__(self, base: Detector, percentile: float = 90.0) -> None:
        if not 0 < percentile <= 100:
            raise UsageError(f"percentile = {percentile}: it must lie in (0, 100]")
        super().__init__(base)
        self.percentile = percentile

    @property
    def limit_(self) -> float:
        """Where embeddings are clipped."""
        return self.learned_

    def learn(self, z: torch.Tensor) -> float:
        """Where to clip."""
        return float(np.percentile(z.double().numpy(), self.percentile))

    def change(self, z: torch.Tensor, learned: float) -> torch.Tensor:
        """Clipped from above."""
        return z.clamp(max=learned)
