"""The plain head: softmax over the outputs, cross-entropy."""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.heads import Head, heads


@heads.register("softmax")
class Softmax(Head):
    """Softmax over the outputs, with cross-entropy."""

    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """The outputs."""
        return output

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Cross-entropy."""
        return nn.functional.cross_entropy(output, labels)
