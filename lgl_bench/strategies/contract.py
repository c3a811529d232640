"""What strategies are handed, and what they hand back."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import BoolArray, FloatArray, Graph, IntArray, Outputs, Snapshot, Task, flag_arrays
from lgl_bench.strategies.memory import Memory, whole_numbers


class Learner(typing.Protocol):
    """What a strategy may ask of a model; `training.model.Model` is one."""

    backbone: Any
    head: Any
    known: IntArray
    training: bool

    def __call__(self, inputs: Inputs) -> Outputs:
        """Logits and embeddings of every vertex, with gradients."""

    def outputs(self, graph: Graph) -> Outputs:
        """Logits and embeddings in evaluation mode, without gradients."""

    def columns(self, labels: IntArray) -> IntArray:
        """Output column of each global class id; -1 for those that are not known."""

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Weights by name."""

    def zero_grad(self) -> None:
        """Drops all gradients."""


@dataclass(frozen=True, slots=True)
class FitTask:
    """What a strategy is offered of a task; arrays have one entry per vertex of the training graph.

    Attributes:
        task: Its `train.labels` are -1 wherever a label is not offered, and `fit_mask` is where one is.
        new: Vertices whose label arrived since the last fit.
        recent: Vertices that are younger than every label of the last fit; with or without a label of their own.
        remembered: Vertices that are in memory.
        positions: Position of each vertex in the stream.
    """

    task: Task
    new: BoolArray
    recent: BoolArray
    remembered: BoolArray
    positions: IntArray

    def __post_init__(self) -> None:
        flag_arrays(self)

    @property
    def train(self) -> Snapshot:
        """Graph and labels to learn from."""
        return self.task.train

    @property
    def known(self) -> IntArray:
        """Global ids of the classes known by now, in the order of the model's outputs."""
        return self.task.known

    @property
    def labelled(self) -> IntArray:
        """Vertices that have a label on offer."""
        return np.flatnonzero(self.task.fit_mask)

    def remember(self, vertices: IntArray, edges: IntArray | None = None, **arrays: Any) -> Memory:
        """A memory of vertices of the training graph, with the labels that are on offer.

        Args:
            vertices: By their number in the training graph.
            edges: (2, m) arcs between them, by the same numbers, if a graph of kept vertices is to have these alone.
            arrays: Whatever else, of numbers, by name.
        """
        kept = np.unique(whole_numbers(vertices, "vertices"))
        if len(kept) and not 0 <= kept[0] <= kept[-1] < len(self.positions):
            raise PluginError(f"remember: vertices from {kept[0]} to {kept[-1]} of {len(self.positions)}")
        arcs = None if edges is None else self.positions[whole_numbers(edges, "edges")]
        return Memory(self.positions[kept], self.train.labels[kept], arcs, arrays)


@dataclass(frozen=True, slots=True)
class FitView:
    """The loss of a fit.

    Attributes:
        vertices: Of the training graph, each with a label on offer; none leaves the weights as they are.
        weights: One per vertex, positive; they are scaled to a mean of 1. None weighs all alike.
    """

    vertices: IntArray
    weights: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class StepOutputs:
    """What the model said in a step.

    Attributes:
        vertices: Of the training graph: those of the loss that took part in the step, on the CPU.
        logits: One row per vertex, with gradients.
    """

    vertices: torch.Tensor
    logits: torch.Tensor
