"""Graph posterior network (Stadler et al. 2021): the loss of the Dirichlet distribution of each vertex.

digamma(alpha_0) - digamma(alpha_y), the expected cross-entropy, less 1e-4 times the entropy of Dir(alpha); the mean
over training vertices. Outputs are log alpha, so that their softmax is the mean of the distribution.
"""

from __future__ import annotations

import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.heads import Head, heads
from lgl_bench.heads.dirichlet import entropy


@heads.register("gpn")
class Gpn(Head):
    """The loss of a Dirichlet distribution per vertex; made for the backbone gpn.

    Args:
        width: Columns of the embedding.
        classes: Number of known classes.
        regulariser: Weight of the entropy.
    """

    def __init__(self, width: int, classes: int, regulariser: float = 1e-4) -> None:
        super().__init__(width, classes)
        if regulariser < 0:
            raise UsageError(f"regulariser = {regulariser}: it must not be negative")
        self.regulariser = regulariser

    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """The logarithm of alpha."""
        return output

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Expected cross-entropy less entropy; in double precision, because large numbers cancel."""
        alpha = self.logits(output).double().exp()
        own = alpha.gather(1, labels[:, None])[:, 0]
        expected = torch.digamma(alpha.sum(dim=1)) - torch.digamma(own)
        return (expected - self.regulariser * entropy(alpha)).mean().to(output)
