"""Elastic weight consolidation (Kirkpatrick et al. 2017): weights that the loss of earlier years depends on are held.

penalty = strength * sum_i F_i (theta_i - theta*_i)^2, F_i = (dL / dtheta_i)^2 with L the mean loss of a year's new
labels on the whole training graph, in evaluation mode, at the end of its fit; summed over years. theta* are the weights
of the year before.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import torch

from lgl_bench.core.types import IntArray, Snapshot
from lgl_bench.strategies import FitTask, Learner, strategies
from lgl_bench.strategies.gradients import gradients, mean_loss
from lgl_bench.strategies.importance import Anchored, check_factor


def squared_gradients(model: Learner, train: Snapshot, vertices: IntArray) -> dict[str, torch.Tensor]:
    """Square of the gradient of the mean loss of some vertices, by weight; zeros if there is no vertex."""
    loss = mean_loss(model, train, vertices) if len(vertices) else torch.zeros(())
    return {name: one.square() for name, one in gradients(model, loss).items()}


@strategies.register("ewc")
class Ewc(Anchored):
    """New labels in the loss; weights with a large gradient at the end of earlier years stay near where they were.

    Args:
        strength: Factor of the penalty; 1e2 to 1e6 are worth a search.
    """

    grid = MappingProxyType({"strength": (1e2, 1e3, 1e4, 1e5, 1e6)})

    def __init__(self, strength: float = 1e4) -> None:
        check_factor("strength", strength)
        self.strength = strength

    def importances(self, model: Learner, task: FitTask) -> dict[str, torch.Tensor]:
        """Squared gradients of the mean loss of the new labels."""
        return squared_gradients(model, task.train, np.flatnonzero(task.new))
