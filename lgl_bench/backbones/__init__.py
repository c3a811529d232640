"""Backbones: graph neural networks that turn a graph into embeddings and outputs.

`layers` = L counts message-passing (or linear) layers. For linear heads the L-th layer maps hidden to the known
classes and its input is the embedding; for prototype heads it maps hidden to hidden, without activation, and
its output is the embedding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn

from lgl_bench.backbones.layers.dropout import Dropout
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.sparse import Matrix
from lgl_bench.backbones.walks.full import full_batch
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.errors import UsageError
from lgl_bench.core.registry import Registry

MAX_LAYERS = 100
MAX_HIDDEN = 100_000
"""Far more than anybody trains, and little enough to be refused before the memory is gone."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a backbone maps to what.

    Attributes:
        inputs: Number of features.
        outputs: Number of known classes for a linear head; None for a prototype head.
    """

    inputs: int
    outputs: int | None


@dataclass(frozen=True, slots=True)
class ParameterGroup:
    """Parameters that are optimised in a way of their own.

    Attributes:
        parameters: Which.
        weight_decay: Added to the gradient, times the parameter itself.
        first_epoch: The epochs before it, counted from 1, leave the parameters as they are.
    """

    parameters: tuple[nn.Parameter, ...]
    weight_decay: float = 0.0
    first_epoch: int = 1


class Backbone(nn.Module, ABC):
    """Base of every backbone: write `step` and `grow`.

    Optional: `after`, what follows a layer, and `batches`, how an epoch walks over the training graph.

    Args:
        shape: Features in, classes out.
        hidden: Width of the hidden layers.
        layers: Number of layers, at least 2.
        dropout: Share of hidden units dropped after every layer but the last.
    """

    edge_weights: ClassVar[bool] = False
    """Whether arc weights take part, so that ODIN can move them."""
    track: ClassVar[str] = "inductive"
    """Called transductive if training sees features and edges of the vertices that are scored."""
    whole_graph: ClassVar[bool] = True
    """Whether a step of training sees all vertices, so that a head may add a loss over them."""
    own_head: ClassVar[str] = "softmax"
    """The head it is made for: what checks train it with. It must work with every other too."""
    own_sizes: ClassVar[frozenset[str]] = frozenset()
    """Of a built-in backbone: parameters that mean another thing than GCN's do, so that presets leave them alone."""
    own_lr: ClassVar[float | None] = None
    """Of a built-in backbone: the learning rate it is published with; presets have GCN's otherwise."""

    def __init__(self, shape: Shape, hidden: int = 64, layers: int = 2, dropout: float = 0.5) -> None:
        super().__init__()
        if shape.inputs < 1:
            raise UsageError("the graph has no features (zero columns); a backbone needs at least one")
        if not 2 <= layers <= MAX_LAYERS or not 1 <= hidden <= MAX_HIDDEN:
            raise UsageError(
                f"layers = {layers}, hidden = {hidden}: a backbone needs at least two layers and one hidden unit, "
                f"and has at most {MAX_LAYERS} layers and {MAX_HIDDEN:,} hidden units"
            )
        self.shape = shape
        self.hidden = hidden
        self.layers = layers
        self.drop = Dropout(dropout)

    @abstractmethod
    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """Layer number `layer`, from 0, without activation."""

    @abstractmethod
    def grow(self, outputs: int) -> None:
        """Appends outputs for classes that became known (linear heads)."""

    @property
    def width(self) -> int:
        """Columns of the embedding."""
        return self.hidden

    def after(self, layer: int, h: torch.Tensor) -> torch.Tensor:
        """What follows every layer but the last."""
        return self.drop(h, relu=True)  # type: ignore[no-any-return]

    def body(self, inputs: Inputs) -> torch.Tensor:
        """Every layer but the last, with what follows each."""
        h: Matrix = inputs.features
        for layer in range(self.layers - 1):
            h = self.after(layer, self.step(layer, inputs, h))
        assert isinstance(h, torch.Tensor)
        return h

    def last(self, inputs: Inputs, h: torch.Tensor) -> torch.Tensor:
        """The last layer: logits for a linear head, the embedding for a prototype head."""
        return self.step(self.layers - 1, inputs, h)

    def forward(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Embeddings and outputs; for a prototype head they are the same."""
        h = self.body(inputs)
        output = self.last(inputs, h)
        return (output if self.shape.outputs is None else h), output

    def attention_logits(self, inputs: Inputs) -> list[torch.Tensor]:
        """What attention computes for every arc before its softmax, one tensor per layer; empty without attention."""
        return []

    def batches(self, data: TrainingData) -> Epoch:
        """How an epoch walks over the training graph: one step on all of it, unless written otherwise.

        Called once per fit, before the first epoch; random numbers come from torch's own generator, which is seeded.

        Args:
            data: The training graph and its training labels.

        Returns:
            A function that is called once per epoch and yields the losses of its steps. The optimiser steps after each,
            so a loss is computed when it is asked for, not before.
        """
        return full_batch(self, data)

    def parameter_groups(self, epochs: int) -> Sequence[ParameterGroup]:
        """What is optimised in another way than by Adam, without weight decay, in every epoch; nothing as a rule.

        Args:
            epochs: Most epochs that the fit will have.
        """
        return ()

    def sizes(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each layer."""
        last = self.shape.outputs if self.shape.outputs is not None else self.hidden
        widths = [self.shape.inputs, *[self.hidden] * (self.layers - 1), last]
        return list(zip(widths[:-1], widths[1:], strict=True))


_BUILT_IN = (
    *("gcn", "graphsage", "gat", "graph_mlp", "mlp", "sgc", "appnp", "gin", "gcnii", "gprgnn", "h2gcn"),
    *("oodgat", "openwgl", "gpn"),
)

backbones: Registry[type[Any]] = Registry(
    "backbone",
    "lgl_bench.backbones",
    tuple(f"lgl_bench.backbones.{name}" for name in _BUILT_IN),
)
