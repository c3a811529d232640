"""NodeSafe (Yang et al. 2024): cross-entropy, and logits of all training vertices held to one length and one sum.

What is added, over the training vertices: l2 [l1 Var(|f|) / mean(|f|) + (1 - l1) Var(sum_c f_c) / |mean(sum_c f_c)|],
without gradients through the means. It starts after 20 epochs, or after a tenth of them if there are fewer than 200.
"""

from __future__ import annotations

import torch

from lgl_bench.backbones.walks.training_data import GraphLoss, Step, TrainingData
from lgl_bench.core.errors import UsageError
from lgl_bench.heads import heads
from lgl_bench.heads.softmax import Softmax

_EPOCHS_BEFORE = 20
_LEAST_MEAN = 1e-3  # a sum of logits may have the mean 0, and a small one must not stop training


def first_epoch(epochs: int) -> int:
    """The first epoch with the regulariser.

    >>> first_epoch(200), first_epoch(50), first_epoch(5)
    (21, 6, 1)
    """
    return min(_EPOCHS_BEFORE, epochs // 10) + 1


def spread(values: torch.Tensor) -> torch.Tensor:
    """Var / |mean|, with the variance of the values themselves and no gradient through the mean.

    >>> round(float(spread(torch.tensor([1.0, 2.0, 6.0]))), 4)
    1.5556
    """
    return values.var(correction=0) / values.mean().detach().abs().clamp_min(_LEAST_MEAN)


def bounded_and_uniform(logits: torch.Tensor, l1: float) -> torch.Tensor:
    """The regulariser of some vertices, without its weight."""
    return l1 * spread(logits.norm(dim=1)) + (1 - l1) * spread(logits.sum(dim=1))


@heads.register("nodesafe")
class NodeSafe(Softmax):
    """Softmax, with the logits of all training vertices held to one length and one sum.

    Args:
        width: Columns of the embedding.
        classes: Number of known classes.
        l1: Share of the lengths in it.
        l2: Its weight.
    """

    def __init__(self, width: int, classes: int, l1: float = 0.999, l2: float = 1.0) -> None:
        super().__init__(width, classes)
        if not 0 <= l1 <= 1 or l2 < 0:
            raise UsageError(f"l1 = {l1}, l2 = {l2}: l1 lies in [0, 1], and l2 is not negative")
        self.l1 = l1
        self.l2 = l2

    def graph_loss(self, data: TrainingData) -> GraphLoss:
        """The regulariser: over all training vertices at once, whatever their weights in the loss are."""

        def added(step: Step) -> torch.Tensor:
            if step.epoch < first_epoch(step.epochs):
                return step.output.new_zeros(())
            return self.l2 * bounded_and_uniform(self.logits(step.output[step.trained]), self.l1)

        return added
