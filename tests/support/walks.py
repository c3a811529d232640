"""What a walk is tested on."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy

from lgl_bench.backbones.walks.training_data import TrainingData
from lgl_bench.core.types import Graph


def data_on(g: Graph, fit: list[int], labels: list[int] | None = None) -> TrainingData:
    """A graph of which some vertices are trained on, with the cross-entropy; every label is 0 unless given."""
    columns = torch.full((g.num_vertices,), -1)
    columns[fit] = torch.tensor([0] * len(fit) if labels is None else labels, dtype=torch.int64)
    return TrainingData(g, torch.tensor(fit, dtype=torch.int64), columns, cross_entropy)
