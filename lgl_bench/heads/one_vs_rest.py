"""One sigmoid a class: DOC (Shu et al. 2017) and gDOC (Galke et al. 2021), which weights positives.

Binary cross-entropy of every class against the rest. gDOC multiplies the positive part of class k by
(n - n_k) / n_k, n_k of the n training vertices being of class k: what both published codes do. The paper prints
(n - n_k) / n; `weight = "paper"` does that.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from lgl_bench.core.errors import UsageError
from lgl_bench.heads import Head, heads


def positive_weights(labels: torch.Tensor, classes: int, rule: str) -> torch.Tensor:
    """Weight of the positives of each class.

    >>> positive_weights(torch.tensor([0, 0, 0, 1]), 2, "code").tolist()
    [0.3333333432674408, 3.0]
    >>> positive_weights(torch.tensor([0, 0, 0, 1]), 2, "paper").tolist()
    [0.25, 0.75]
    """
    counts = torch.bincount(labels, minlength=classes).float()
    negatives = len(labels) - counts
    return negatives / (counts.clamp_min(1) if rule == "code" else len(labels))


class OneVsRest(Head):
    """Sigmoid outputs; `probabilities` are not a distribution over classes."""

    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """The outputs before the sigmoid."""
        return output

    def probabilities(self, output: torch.Tensor) -> torch.Tensor:
        """The sigmoid of each class."""
        return torch.sigmoid(output)

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Binary cross-entropy, averaged over vertices and classes."""
        target = nn.functional.one_hot(labels, output.shape[1]).float()
        weight = self.weights(labels, output.shape[1])
        return nn.functional.binary_cross_entropy_with_logits(output, target, pos_weight=weight)

    def weights(self, labels: torch.Tensor, classes: int) -> torch.Tensor | None:
        """Weight of the positives of each class; none here."""
        return None


@heads.register("doc")
class Doc(OneVsRest):
    """DOC: every positive counts the same."""


@heads.register("gdoc")
class GDoc(OneVsRest):
    """gDOC: positives weighted against the imbalance of classes.

    Args:
        width: Columns of the embedding.
        classes: Number of known classes.
        weight: "code" for (n - n_k) / n_k, "paper" for (n - n_k) / n.
    """

    def __init__(self, width: int, classes: int, weight: Literal["code", "paper"] = "code") -> None:
        super().__init__(width, classes)
        if weight not in ("code", "paper"):
            raise UsageError(f"weight = '{weight}': it is 'code' or 'paper'")
        self.weight_rule = weight

    def weights(self, labels: torch.Tensor, classes: int) -> torch.Tensor:
        """Weight of the positives of each class."""
        return positive_weights(labels, classes, self.weight_rule)
