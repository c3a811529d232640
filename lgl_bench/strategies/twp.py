"""Topology-aware weight preserving (Liu et al. 2021): EWC that also holds what the graph's structure is read with.

penalty = sum_i I_i (theta_i - theta*_i)^2 + gradient * ||dL / dtheta||_1, I = loss * F_loss + topology * F_topology,
summed over years. F_loss is EWC's. F_topology_i = (d ||e|| / dtheta_i)^2 with e the attention logits of all arcs and
layers, or without attention e_uv = LeakyReLU(h_u . tanh h_v) over the arcs, h the embeddings; in evaluation mode. L is
the mean loss of the new labels on the whole training graph, as the model is in the step, with a dropout of its own; its
gradient is differentiated again, in every year, the first one too: small gradients leave room for later years.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import torch

from lgl_bench.core.types import Graph, IntArray, Snapshot
from lgl_bench.kernels.choice import use_kernels
from lgl_bench.strategies import FitTask, Learner, StepOutputs, strategies
from lgl_bench.strategies.ewc import squared_gradients
from lgl_bench.strategies.gradients import gradients, head_loss, statistics_kept, whole_graph
from lgl_bench.strategies.importance import Anchored, check_factor

_SLOPE = 0.2  # of the leaky ReLU, as in GAT


def topology_norm(model: Learner, graph: Graph) -> torch.Tensor:
    """||e|| of the attention logits, or of LeakyReLU(h_u . tanh h_v) over the arcs u -> v; with gradients."""
    inputs = whole_graph(model, graph)
    parts: list[torch.Tensor] = model.backbone.attention_logits(inputs)
    if not parts:
        h, arcs = model(inputs).embeddings, inputs.arcs
        product = (h.index_select(0, arcs.sources) * torch.tanh(h)[arcs.targets]).sum(dim=1)
        parts = [torch.nn.functional.leaky_relu(product, _SLOPE)]
    found: torch.Tensor = torch.linalg.vector_norm(torch.cat([part.flatten() for part in parts]))
    return found


def gradient_norm(model: Learner, train: Snapshot, vertices: IntArray) -> torch.Tensor:
    """L1 norm of the gradient of the mean loss of some vertices; it can be differentiated."""
    # Our compiled kernels have a first derivative only, and would leave the second out without a word.
    with use_kernels("torch"), statistics_kept(model):
        _, output = model.backbone(whole_graph(model, train.graph))
        if not model.head.linear:
            # The zero vector has no direction: a prototype head has no second derivative there.
            vertices = vertices[(output.detach() != 0).any(dim=1).cpu().numpy()[vertices]]
        loss = head_loss(model, output, train, vertices) if len(vertices) else output.sum() * 0
        found = gradients(model, loss, create_graph=True)
    return torch.stack([one.abs().sum() for one in found.values()]).sum()


@strategies.register("twp")
class Twp(Anchored):
    """New labels in the loss; weights that the loss or the topology of earlier years depends on stay where they were.

    Args:
        loss: Factor of the importance for the loss.
        topology: Factor of the importance for the topology.
        gradient: Factor of the L1 norm of the gradient.
    """

    grid = MappingProxyType({"loss": (1e2, 1e4), "topology": (1e2, 1e4)})

    def __init__(self, loss: float = 1e4, topology: float = 1e4, gradient: float = 0.01) -> None:
        for name, value in (("loss", loss), ("topology", topology), ("gradient", gradient)):
            check_factor(name, value)
        self.loss = loss
        self.topology = topology
        self.gradient = gradient

    def penalty(self, model: Learner, outputs: StepOutputs) -> torch.Tensor | float:
        """The quadratic penalty, and the norm of the gradient."""
        held = super().penalty(model, outputs)
        new = np.flatnonzero(self.task_.new)
        if not self.gradient or not len(new):
            return held
        return held + self.gradient * gradient_norm(model, self.task_.train, new)

    def importances(self, model: Learner, task: FitTask) -> dict[str, torch.Tensor]:
        """Squared gradients of the loss and, apart from them, of the topology, each with its factor."""
        of_loss = squared_gradients(model, task.train, np.flatnonzero(task.new))
        of_topology = gradients(model, topology_norm(model, task.train.graph))
        return {name: self.loss * one + self.topology * of_topology[name].square() for name, one in of_loss.items()}
