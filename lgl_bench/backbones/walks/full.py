"""The walk of a backbone that does not say otherwise: one step on the whole graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from lgl_bench.backbones.walks.training_data import Epoch, TrainingData

if TYPE_CHECKING:
    from lgl_bench.backbones import Backbone


def full_batch(backbone: Backbone, data: TrainingData) -> Epoch:
    """One step on the whole graph: the loss of all training vertices, and what the head adds for all vertices."""
    inputs = data.whole()
    vertices = data.vertices.to(data.device)

    def epoch() -> Iterator[torch.Tensor]:
        embeddings, output = backbone(inputs)
        yield data.loss(output[vertices], data.vertices) + data.added(embeddings, output)

    return epoch
