"""What one epoch walks over: the whole graph, sampled neighbourhoods, or drawn vertices."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch

from lgl_bench.backbones.graph_mlp import GraphMLP
from lgl_bench.backbones.graphsage import GraphSAGE
from lgl_bench.backbones.inputs import Inputs, inputs_of
from lgl_bench.backbones.sparse import take_rows
from lgl_bench.core.types import IntArray, Task
from lgl_bench.training.contrastive import Neighbourhood, contrastive_loss
from lgl_bench.training.model import Model
from lgl_bench.training.sampling import NeighbourSampler


class Batches(ABC):
    """The losses of one epoch, one a step."""

    @abstractmethod
    def losses(self) -> Iterator[torch.Tensor]:
        """Each loss is computed with the weights as they are when it is asked for."""


class FullBatch(Batches):
    """One step on the whole graph."""

    def __init__(self, model: Model, task: Task, fit: IntArray, columns: torch.Tensor, device: str) -> None:
        self.model = model
        self.inputs = inputs_of(task.train.graph).to(device)
        self.fit = torch.from_numpy(fit).to(device)
        self.labels = columns.to(device)[self.fit]

    def losses(self) -> Iterator[torch.Tensor]:
        """The loss of all training vertices."""
        _, output = self.model.backbone(self.inputs)
        yield self.model.head.loss(output[self.fit], self.labels)


class SampledBatches(Batches):
    """Batches of training vertices, shuffled every epoch, each with freshly sampled neighbours."""

    def __init__(self, model: Model, task: Task, fit: IntArray, columns: torch.Tensor, device: str) -> None:
        backbone = model.backbone
        assert isinstance(backbone, GraphSAGE)
        self.device = device
        self.model = model
        self.inputs = inputs_of(task.train.graph)
        self.fit = torch.from_numpy(fit)
        self.columns = columns
        self.size = int(backbone.batch) if backbone.batch >= 1 else math.ceil(backbone.batch * len(fit) - 1e-9)
        self.sampler = NeighbourSampler(task.train.graph, backbone.fanouts)

    def losses(self) -> Iterator[torch.Tensor]:
        """One loss a batch."""
        for seeds in torch.split(self.fit[torch.randperm(len(self.fit))], self.size):
            read, blocks = self.sampler.sample(seeds.numpy())
            features = take_rows(self.inputs.features, torch.from_numpy(read))
            inputs = Inputs(features, self.inputs.graph, blocks=blocks).to(self.device)
            _, output = self.model.backbone(inputs)
            yield self.model.head.loss(output, self.columns[seeds].to(self.device))


class DrawnBatch(Batches):
    """Graph-MLP: one step on drawn vertices (`draw_batch`), cross-entropy and contrastive loss."""

    def __init__(self, model: Model, task: Task, fit: IntArray, columns: torch.Tensor, device: str) -> None:
        backbone = model.backbone
        assert isinstance(backbone, GraphMLP)
        self.device = device
        self.model = model
        self.backbone = backbone
        self.inputs = inputs_of(task.train.graph)
        self.fit = torch.from_numpy(fit)
        self.labels = torch.full((task.train.graph.num_vertices,), -1)
        self.labels[self.fit] = columns[self.fit]
        self.neighbourhood = Neighbourhood(task.train.graph, backbone.r) if backbone.beta else None

    def losses(self) -> Iterator[torch.Tensor]:
        """The loss of one draw."""
        batch = draw_batch(len(self.labels), self.fit, self.backbone.batch)
        h = self.backbone.body(self._read(batch))
        loss = h.new_zeros(())
        labels = self.labels[batch].to(self.device)
        known = labels >= 0
        if known.any():
            output = self.backbone.last(self.inputs, h)
            loss = loss + self.model.head.loss(output[known], labels[known])
        if self.neighbourhood is not None:
            parts = self.neighbourhood.between(batch.numpy())
            row, col, gamma = (torch.from_numpy(part).to(self.device) for part in parts)
            loss = loss + self.backbone.beta * contrastive_loss(h, row, col, gamma, self.backbone.tau)
        if loss.requires_grad:
            yield loss

    def _read(self, batch: torch.Tensor) -> Inputs:
        return Inputs(take_rows(self.inputs.features, batch), self.inputs.graph).to(self.device)


def draw_batch(n: int, fit: torch.Tensor, size: int) -> torch.Tensor:
    """B = min(n, size) different vertices out of 0..n-1, drawn uniformly.

    Training vertices that make up at most half of B are all in it, and the rest is drawn uniformly from the others, as
    in the original Graph-MLP (Hu et al. 2021): of 60 labels among 19,717 vertices a uniform draw of 2,000 holds six.

    Args:
        n: Vertices of the training graph.
        fit: The training vertices.
        size: Of the batch, where there are so many vertices.
    """
    size = min(n, size)
    if 2 * len(fit) > size:
        return torch.randperm(n)[:size]
    is_other = torch.ones(n, dtype=torch.bool)
    is_other[fit] = False
    others = is_other.nonzero().flatten()
    return torch.cat([fit, others[torch.randperm(len(others))[: size - len(fit)]]])


def batches_of(model: Model, task: Task, fit: IntArray, columns: torch.Tensor, device: str = "cpu") -> Batches:
    """The way of walking that the backbone names."""
    kinds: dict[str, type[Batches]] = {"full": FullBatch, "sampled": SampledBatches, "drawn": DrawnBatch}
    return kinds[model.backbone.batching](model, task, fit, columns, device)  # type: ignore[call-arg]
