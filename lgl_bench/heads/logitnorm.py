"""LogitNorm (Wei et al. 2022): the cross-entropy of f / (tau |f|), so that training cannot lower it by longer logits.

Probabilities and scores are those of the logits f themselves, whose length is then free to say how sure the model is.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.core.errors import UsageError
from lgl_bench.heads import Head, heads

_SHORTEST = 1e-7  # of a vector of logits: one of zeros has no direction


def normalised(logits: torch.Tensor, tau: float) -> torch.Tensor:
    """Logits of length 1 / tau.

    >>> normalised(torch.tensor([[3.0, 4.0]]), tau=0.5).tolist()
    [[1.2000000476837158, 1.600000023841858]]
    """
    return nn.functional.normalize(logits, dim=1, eps=_SHORTEST) / tau


@heads.register("logitnorm")
class LogitNorm(Head):
    """Softmax whose loss sees logits of one length only.

    Args:
        width: Columns of the embedding.
        classes: Number of known classes.
        tau: Temperature; published for images. Values worth a search: 0.01, 0.04, 0.1, 1.
    """

    def __init__(self, width: int, classes: int, tau: float = 0.04) -> None:
        super().__init__(width, classes)
        if not tau > 0:
            raise UsageError(f"tau = {tau}: it must be positive")
        self.tau = tau

    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """The outputs."""
        return output

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Cross-entropy of the normalised logits."""
        return nn.functional.cross_entropy(normalised(output, self.tau), labels)
