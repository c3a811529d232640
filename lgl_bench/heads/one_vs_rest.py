"""One sigmoid per class: DOC (Shu et al. 2017) and gDOC (Galke et al. 2021), which weights positives.

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

    def probabilities(self, logits: torch.Tensor) -> torch.Tensor:
        """The sigmoid of each class."""
        return torch.sigmoid(logits)

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Binary cross-entropy, averaged over vertices and classes."""
        target = nn.functional.one_hot(labels, output.shape[1]).float()
        return nn.functional.binary_cross_entropy_with_logits(output, target, pos_weight=self.weights(labels))

    def weights(self, labels: torch.Tensor) -> torch.Tensor | None:
        """Weight of the positives of each class; none here."""
        return None


@heads.register("doc")
class Doc(OneVsRest):
    """One sigmoid per class against the rest, every positive weighted the same."""


@heads.register("gdoc")
class GDoc(OneVsRest):
    """One sigmoid per class against the rest, positives weighted against the imbalance of classes.

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
        self._weights: torch.Tensor | None = None

    def begin(self, labels: torch.Tensor) -> None:
        """Counts the classes of all training vertices."""
        self._weights = positive_weights(labels, self.classes, self.weight_rule)

    def weights(self, labels: torch.Tensor) -> torch.Tensor:
        """From all training vertices, or from those given if training has not begun."""
        begun = self._weights is not None and len(self._weights) == self.classes
        return self._weights if begun else positive_weights(labels, self.classes, self.weight_rule)  # type: ignore[return-value]
