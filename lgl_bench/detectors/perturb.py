"""One step of the input along the sign of a gradient: what ODIN and Generalized ODIN share.

Only features that are non-zero move: on bags of words the others carry no evidence, and moving all of them
drowns the few that do (Cora, GCN: AUROC 0.85 with this rule, 0.59 without).
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from lgl_bench.backbones.inputs import Inputs, inputs_of
from lgl_bench.backbones.sparse import Matrix, SparseMatrix
from lgl_bench.core.types import Graph
from lgl_bench.training.model import Model


def perturbed(
    model: Model, graph: Graph, objective: Callable[[Inputs], torch.Tensor], eps: float, arcs: bool = False
) -> Inputs:
    """Inputs moved by eps * sign(gradient of the objective): non-zero features, and arc weights where asked for.

    Args:
        model: In evaluation mode.
        graph: What is moved.
        objective: A scalar from inputs.
        eps: Size of the step.
        arcs: Whether arc weights move too, where the backbone has them.
    """
    start = inputs_of(graph)
    features = start.features
    values = (features.values if isinstance(features, SparseMatrix) else features).detach().clone()
    values.requires_grad_(True)
    weights = None
    if arcs and model.backbone.edge_weights:
        weights = torch.ones(start.looped.num_edges(), requires_grad=True)
    moved = [values] if weights is None else [values, weights]
    with torch.enable_grad():
        total = objective(start.moved(_with(features, values), weights))
        gradients = torch.autograd.grad(total, moved)
    with torch.no_grad():
        step = eps * gradients[0].sign()
        if not isinstance(features, SparseMatrix):
            step = step * (values != 0)
        new_weights = None if weights is None else weights + eps * gradients[1].sign()
        return start.moved(_with(features, values.detach() + step), new_weights)


def _with(features: Matrix, values: torch.Tensor) -> Matrix:
    return features.with_values(values) if isinstance(features, SparseMatrix) else values
