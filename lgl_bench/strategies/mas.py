"""Memory aware synapses (Aljundi et al. 2018): weights that the outputs depend on are held; needs no labels.

penalty = strength * sum_i Omega_i (theta_i - theta*_i)^2, Omega_i = mean over vertices v of |d ||f(v)||^2 / dtheta_i|
with f the logits, in evaluation mode, over this year's vertices; summed over years. Each vertex needs a gradient of its
own, so the mean is over at most `samples` of them.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.core.seeds import generator
from lgl_bench.core.types import Graph, IntArray
from lgl_bench.strategies import FitTask, Learner, strategies
from lgl_bench.strategies.gradients import gradients, whole_graph
from lgl_bench.strategies.importance import Anchored, check_factor


def output_sensitivity(model: Learner, graph: Graph, vertices: IntArray) -> dict[str, torch.Tensor]:
    """Mean over vertices of the absolute gradient of the squared norm of their logits; zeros if there is none."""
    total = {name: torch.zeros_like(weight) for name, weight in model.named_parameters()}
    if not len(vertices):
        return total
    logits = model(whole_graph(model, graph)).logits
    for vertex in vertices.tolist():
        found = gradients(model, logits[vertex].square().sum(), retain_graph=True)
        for name, one in found.items():
            total[name] += one.abs() / len(vertices)
    return total


@strategies.register("mas")
class Mas(Anchored):
    """New labels in the loss; weights that move the outputs of earlier years stay near where they were.

    Args:
        strength: Factor of the penalty.
        samples: Most vertices whose gradients are taken, drawn from this year's.
    """

    grid = MappingProxyType({"strength": (0.1, 1.0, 10.0, 100.0)})

    def __init__(self, strength: float = 1.0, samples: int = 64) -> None:
        check_factor("strength", strength)
        if samples < 1:
            raise UsageError(f"samples = {samples}: importances need the gradients of at least one vertex")
        self.strength = strength
        self.samples = samples

    def importances(self, model: Learner, task: FitTask) -> dict[str, torch.Tensor]:
        """Sensitivity of the outputs of this year's vertices, with or without labels."""
        vertices = np.flatnonzero(task.recent)
        if len(vertices) > self.samples:
            rng = generator(self.seed_, "mas", task.task.time, task.task.fold)
            vertices = np.sort(rng.choice(vertices, self.samples, replace=False))
        return output_sensitivity(model, task.train.graph, vertices)
