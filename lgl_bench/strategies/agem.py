"""A-GEM (Chaudhry et al. 2019): a step must not increase the loss of remembered vertices.

With g the gradient of a step and r that of the mean loss of the memory, over all weights together: if g . r < 0, g
becomes g - (g . r / r . r) r, which is orthogonal to r. r is computed on the whole training graph, from the whole
memory, as the model is in the step, with a dropout of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import torch

from lgl_bench.core.seeds import generator
from lgl_bench.strategies import FitTask, FitView, Learner, Memory, Strategy, strategies
from lgl_bench.strategies.gradients import gradients, mean_loss, statistics_kept
from lgl_bench.strategies.picks import reservoir
from lgl_bench.strategies.replay import check_size


def conflict(gradient: Mapping[str, torch.Tensor], reference: Mapping[str, torch.Tensor]) -> float:
    """(g . r / r . r) if it is negative, else 0: how much of r is to be taken out of g."""
    product = sum(float((gradient[name].double() * one.double()).sum()) for name, one in reference.items())
    squared = sum(float(one.double().square().sum()) for one in reference.values())
    return product / squared if product < 0 and squared > 0 else 0.0


@strategies.register("agem")
class Agem(Strategy):
    """New labels in the loss; what would increase the loss of the memory is taken out of the gradients.

    Args:
        size: Most vertices in memory; balanced over classes, at random.
    """

    grid = MappingProxyType({"size": (50, 200, 500)})

    def __init__(self, size: int = 200) -> None:
        check_size(size)
        self.size = size

    def select(self, task: FitTask, memory: Memory, seed: int) -> FitView:
        """The vertices whose label is new."""
        self.task_ = task
        self.seed_ = seed
        return FitView(np.flatnonzero(task.new))

    def after_backward(self, model: Learner) -> None:
        """Takes out of the gradients what points against those of the memory."""
        remembered = np.flatnonzero(self.task_.remembered & self.task_.task.fit_mask)
        if not len(remembered):
            return
        with statistics_kept(model):
            reference = gradients(model, mean_loss(model, self.task_.train, remembered))
        weights = dict(model.named_parameters())
        step = {
            name: torch.zeros_like(one) if (grad := weights[name].grad) is None else grad
            for name, one in reference.items()
        }
        share = conflict(step, reference)
        if share:
            for name, one in reference.items():
                weights[name].grad = step[name] - share * one

    def end(self, model: Learner, task: FitTask, memory: Memory) -> Memory:
        """Vertices drawn among new and remembered ones."""
        rng = generator(self.seed_, "agem", task.task.time, task.task.fold)
        vertices, seen = reservoir(task, task.remembered, memory, self.size, rng)
        return task.remember(vertices, **seen)
