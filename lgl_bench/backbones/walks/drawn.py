"""Drawing vertices for a step."""

from __future__ import annotations

import torch

from lgl_bench.backbones.walks.training_data import TrainingData


def draw_vertices(data: TrainingData, size: int) -> torch.Tensor:
    """B = min(n, size) different vertices of the n of the training graph, drawn uniformly.

    Training vertices that make up at most half of B are all in it, and the rest is drawn uniformly from the others, as
    in the original Graph-MLP (Hu et al. 2021): of 60 labels among 19,717 vertices a uniform draw of 2,000 holds six.

    Args:
        data: What the fit learns from.
        size: Number of vertices, if there are so many.
    """
    n, fit = data.graph.num_vertices, data.vertices
    size = min(n, size)
    if 2 * len(fit) > size:
        return torch.randperm(n)[:size]
    others = (data.labels < 0).nonzero().flatten()
    return torch.cat([fit, others[torch.randperm(len(others))[: size - len(fit)]]])
