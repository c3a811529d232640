"""What a fit may learn from, as the walk of a backbone sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import torch

from lgl_bench.backbones.layers.inputs import Inputs, inputs_of
from lgl_bench.backbones.layers.sparse import take_rows
from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import Graph
from lgl_bench.kernels import Arcs, arcs_between

Epoch: TypeAlias = Callable[[], Iterator[torch.Tensor]]
"""The steps of one epoch: yields the loss of each, computed with the weights as they are when it is asked for."""


def _themselves(output: torch.Tensor) -> torch.Tensor:
    return output


@dataclass(slots=True)
class Clock:
    """How far a fit is.

    Attributes:
        epochs: Most epochs that it will have.
        epoch: The one it is in, from 1; 0 before the first.
    """

    epochs: int = 1
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The training graph with the labels of the training vertices, and of no other.

    On the track `transductive` the graph is the one that will be scored: all its vertices take part, without labels
    but for those of the training vertices. On the inductive track nothing of that graph is in here.

    Attributes:
        graph: Features and edges.
        vertices: The training vertices.
        labels: Output column of the class of each vertex of the graph; -1 for those that are not trained on.
        head_loss: Mean loss of outputs, one row per vertex, given the labels of these vertices.
        device: Where to compute. `vertices` and `labels` stay on the CPU.
        weights: Weight of each vertex in the loss; those of the training vertices have a mean of 1. None if all are
            alike.
        observe: Called with outputs and their vertices whenever a loss is asked for.
        head_logits: One logit per known class, from outputs.
        graph_loss: What the head adds to the loss of a step, from the outputs of all vertices; None for nothing.
        clock: How far the fit is.
    """

    graph: Graph
    vertices: torch.Tensor
    labels: torch.Tensor
    head_loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    device: str = "cpu"
    weights: torch.Tensor | None = None
    observe: Callable[[torch.Tensor, torch.Tensor], None] | None = None
    head_logits: Callable[[torch.Tensor], torch.Tensor] = _themselves
    graph_loss: GraphLoss | None = None
    clock: Clock = field(default_factory=Clock)

    @property
    def unlabelled(self) -> torch.Tensor:
        """The vertices of the graph that are not trained on."""
        return (self.labels < 0).nonzero().flatten()

    def added(self, embeddings: torch.Tensor, output: torch.Tensor) -> torch.Tensor | float:
        """What the head adds to the loss of a step on the whole graph; a walk that makes such steps asks for it.

        Args:
            embeddings: Of all vertices of the graph, as the backbone returns them.
            output: The same.
        """
        return 0.0 if self.graph_loss is None else self.graph_loss(Step(self, embeddings, output))

    def loss(self, output: torch.Tensor, vertices: torch.Tensor) -> torch.Tensor:
        """Mean loss of the outputs of these training vertices, one row per vertex, each times its weight.

        Raises:
            PluginError: One of them is no training vertex.
        """
        labels = self.labels[vertices]
        if (labels < 0).any():
            raise PluginError(
                "the loss was asked for vertices that are not trained on; those that are have labels[vertices] >= 0"
            )
        if self.observe is not None:
            self.observe(output, vertices)
        labels = labels.to(self.device)
        if self.weights is None:
            return self.head_loss(output, labels)
        return self._weighted(output, labels, self.weights[vertices])

    def _weighted(self, output: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """A head knows mean losses: vertices of one weight are a group, and groups are added up."""
        total = output.new_zeros(())
        for weight in torch.unique(weights):
            group = (weights == weight).nonzero().flatten().to(self.device)
            share = float(weight) * len(group) / len(weights)
            total = total + share * self.head_loss(output[group], labels[group])
        return total

    def whole(self) -> Inputs:
        """The whole graph."""
        return inputs_of(self.graph).to(self.device)

    def rows(self, vertices: torch.Tensor, blocks: tuple[Arcs, ...] | None = None) -> Inputs:
        """The features of some vertices, with the blocks that were sampled for them; without blocks, no arcs."""
        inputs = inputs_of(self.graph)
        none = Arcs.of_edges(np.empty((2, 0), dtype=np.int64), len(vertices))
        return Inputs(take_rows(inputs.features, vertices), none, blocks=blocks).to(self.device)

    def subgraph(self, vertices: torch.Tensor) -> Inputs:
        """Some vertices, in this order, with the arcs between them."""
        inputs = inputs_of(self.graph)
        return Inputs(take_rows(inputs.features, vertices), arcs_between(inputs.arcs, vertices)).to(self.device)


@dataclass(frozen=True, slots=True)
class Step:
    """What a loss over the whole graph sees.

    Attributes:
        data: What the fit learns from.
        embeddings: Of all vertices of `data.graph`, with gradients.
        output: What the backbone makes of them, one row per vertex, with gradients.
    """

    data: TrainingData
    embeddings: torch.Tensor
    output: torch.Tensor

    @property
    def epoch(self) -> int:
        """The number of the epoch, from 1."""
        return self.data.clock.epoch

    @property
    def epochs(self) -> int:
        """Most epochs that the fit will have."""
        return self.data.clock.epochs

    @property
    def trained(self) -> torch.Tensor:
        """The training vertices, where it is computed."""
        return self.data.vertices.to(self.output.device)


GraphLoss: TypeAlias = Callable[[Step], torch.Tensor]
"""What is added to the loss of each step on the whole graph."""
