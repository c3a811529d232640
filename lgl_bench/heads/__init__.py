"""Heads: what is made of a backbone's output, and the loss it is trained with.

A linear head reads the backbone's last layer as one output per known class; a prototype head reads it as an
embedding and holds parameters of its own for each class. Both grow when classes become known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import nn

from lgl_bench.backbones.walks.training_data import GraphLoss, TrainingData
from lgl_bench.core.registry import Registry


class Head(nn.Module, ABC):
    """Base of every head: write `logits` and `loss`.

    Optional: `graph_loss`, if the loss needs more than training vertices. A head with `track = "transductive"` is
    trained on the graph that will be scored, without its labels, and its rows are in that track.

    Args:
        width: Columns of the embedding; only prototype heads use it.
        classes: Number of known classes.
    """

    linear: ClassVar[bool] = True
    """Whether the backbone's last layer has one output per class."""
    track: ClassVar[str] = "inductive"
    """Called transductive if training sees features and edges of the vertices that are scored."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.width = width
        self.classes = classes

    @abstractmethod
    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """One logit per known class, from the backbone's output."""

    @abstractmethod
    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Mean loss of training vertices; labels are columns of the logits."""

    def begin(self, labels: torch.Tensor) -> None:  # noqa: B027
        """Sees the labels of all training vertices before the first step; batches show only some of them."""

    def graph_loss(self, data: TrainingData) -> GraphLoss | None:
        """What is added to the loss of each step: a function of the outputs of all vertices; None, for nothing.

        Called once per fit, before the first epoch, to prepare what the fit needs; the function is called in every
        step. Whatever is drawn comes from torch's own generator, which is seeded. It is an error if the backbone walks
        in batches that do not see the whole graph.

        Args:
            data: The graph, and the labels of the training vertices alone.
        """
        return None

    def probabilities(self, logits: torch.Tensor) -> torch.Tensor:
        """Class probabilities."""
        return torch.softmax(logits, dim=1)

    def grow(self, classes: int) -> None:
        """Makes room for classes that became known, keeping what was learned."""
        self.classes = classes


heads: Registry[type[Head]] = Registry(
    "head",
    "lgl_bench.heads",
    tuple(
        f"lgl_bench.heads.{name}"
        for name in ("softmax", "one_vs_rest", "isomax", "genodin", "logitnorm", "nodesafe", "gkde", "gpn")
    ),
)


def append_rows(rows: torch.Tensor, count: int) -> nn.Parameter:
    """A parameter with rows drawn from N(0, 1) appended until there are `count`."""
    return nn.Parameter(torch.cat([rows.data, torch.randn(count - len(rows), rows.shape[1])]))
