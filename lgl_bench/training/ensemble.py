"""Models that differ in their seed alone, taken together: what they say is the mean of their probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from lgl_bench.core.types import FloatArray, Graph, IntArray, Outputs, Task
from lgl_bench.training.model import Model, build_model


def log_mean_probabilities(logits: Iterable[torch.Tensor]) -> torch.Tensor:
    """Log of the mean of softmax(f) over several f: as logits they give back that mean.

    >>> even, sure = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.75, 0.25]])
    >>> log_mean_probabilities([even.log(), sure.log()]).exp()
    tensor([[0.6250, 0.3750]], dtype=torch.float64)
    """
    log_p = torch.stack([torch.log_softmax(one.double(), dim=1) for one in logits])
    return torch.logsumexp(log_p, dim=0) - math.log(len(log_p))


class EnsembleModel(Model):
    """Several models of one task. It has no embeddings and no last layer: each member has its own.

    Args:
        members: At least two, that know the same classes.

    Attributes:
        members: The models.
        views: The task as the strategy of each member saw it; empty if all saw what a detector is given.
    """

    def __init__(self, members: Iterable[Model]) -> None:
        nn.Module.__init__(self)  # neither backbone nor head: those of the members are its weights
        self.members = nn.ModuleList(members)
        self.views: tuple[Task, ...] = ()
        self.known = self.parts[0].known
        self._answers = {}

    @property
    def parts(self) -> list[Model]:
        """The members, as models."""
        return [one for one in self.members if isinstance(one, Model)]

    @property
    def track(self) -> str:
        """That of the members."""
        return self.parts[0].track

    def outputs(self, graph: Graph) -> Outputs:
        """As logits the log of the mean softmax, so that softmax gives the mean; embeddings without a column."""
        logits = log_mean_probabilities(one.outputs(graph).logits for one in self.parts)
        return Outputs(logits, logits.new_empty(len(logits), 0))

    def probabilities(self, graph: Graph) -> FloatArray:
        """Mean of the members' probabilities."""
        mean: FloatArray = np.mean([one.probabilities(graph) for one in self.parts], axis=0)
        return mean

    def predicted_columns(self, graph: Graph) -> IntArray:
        """Output column with the largest mean probability."""
        columns: IntArray = self.probabilities(graph).argmax(axis=1)
        return columns

    def grow(self, known: IntArray) -> None:
        """Makes room in every member."""
        for one in self.parts:
            one.grow(known)
        self.known = self.parts[0].known

    def forget(self) -> None:
        """Drops what the members remember."""
        for one in self.parts:
            one.forget()


def build_members(
    members: int, backbone: str, head: str, features: int, known: IntArray, parameters: dict[str, Any]
) -> Model:
    """The model of a fit: one as `build_model` makes it, or as many as there are members."""
    if members == 1:
        return build_model(backbone, head, features, known, parameters)
    return EnsembleModel(build_model(backbone, head, features, known, parameters) for _ in range(members))
