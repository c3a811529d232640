"""Logits and embeddings of somebody else's model, as detectors ask a model of ours."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from lgl_bench.backbones.layers.inputs import Inputs, identity
from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Graph, IntArray, Outputs, read_only
from lgl_bench.evaluation.answer import array_of
from lgl_bench.heads import heads
from lgl_bench.training.model import Model


class NeedsModelError(UsageError):
    """A detector asks for more than the logits and embeddings that were given."""


class GivenOutputs(Model):
    """A model of which only its outputs on some graphs are known.

    Args:
        known: Global class id of each column of the logits.
    """

    def __init__(self, known: IntArray) -> None:
        nn.Module.__init__(self)
        self.known = read_only(known)
        self.head = heads.get("softmax")(1, len(known))
        self._answers = {}
        self._without_embeddings: set[tuple[int, int]] = set()

    def give(self, name: str, graph: Graph, logits: Any, embeddings: Any) -> None:
        """Takes what the model says of every vertex of a graph.

        Args:
            name: What the logits are called in messages.
            graph: Which graph.
            logits: (vertices, known classes).
            embeddings: (vertices, any width); None if there are none.
        """
        given = _matrix(name, logits, graph)
        if given.shape[1] != len(self.known):
            raise UsageError(
                f"{name} has {given.shape[1]} columns; there is one for each of the {len(self.known)} classes of "
                "task.known, in that order"
            )
        kind = name.replace("logits", "embeddings")
        inside = given if embeddings is None else _matrix(kind, embeddings, graph)
        self._answers[identity(graph)] = graph, Outputs(_tensor(given), _tensor(inside))
        if embeddings is None:
            self._without_embeddings.add(identity(graph))

    def has(self, graph: Graph) -> bool:
        """Whether its outputs on a graph are known."""
        return identity(graph) in self._answers

    def outputs(self, graph: Graph) -> Outputs:
        """As they were given."""
        if not self.has(graph):
            raise NeedsModelError("it learns from the training graph: give train_logits and train_embeddings too")
        found = self._answers[identity(graph)][1]
        if identity(graph) in self._without_embeddings:
            return Outputs(found.logits, _NoEmbeddings())
        return found

    def forward(self, inputs: Inputs) -> Outputs:
        """Not known."""
        raise NeedsModelError("it runs the model itself, forward or with gradients")

    def logits_from(self, graph: Graph, embeddings: torch.Tensor) -> torch.Tensor:
        """Not known."""
        raise NeedsModelError("it runs the last layer of the model")

    def __getattr__(self, name: str) -> Any:
        if name == "backbone":
            raise NeedsModelError("it looks inside the model")
        return super().__getattr__(name)


class _NoEmbeddings:
    """In the place of embeddings that were not given: whatever is asked of it, it says so."""

    def __getattr__(self, name: str) -> NoReturn:
        raise NeedsModelError("it needs embeddings: give embeddings, and train_embeddings if it learns from them")

    def __getitem__(self, at: object) -> NoReturn:
        raise NeedsModelError("it needs embeddings: give embeddings, and train_embeddings if it learns from them")


def _matrix(name: str, values: Any, graph: Graph) -> npt.NDArray[np.float32]:
    array = array_of(values)
    if array.ndim != 2 or len(array) != graph.num_vertices:
        raise UsageError(f"{name} has the shape {array.shape}; it has a row for each of {graph.num_vertices} vertices")
    if array.dtype.kind not in "fiu":
        raise UsageError(f"{name} is of type {array.dtype}; give numbers")
    made: npt.NDArray[np.float32] = array.astype(np.float32)
    rows = np.flatnonzero(~np.isfinite(made).all(axis=1))
    if len(rows):
        raise UsageError(f"{name}: row {rows[0]} holds a value that is not finite")
    return made


def _tensor(array: npt.NDArray[np.float32]) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))
