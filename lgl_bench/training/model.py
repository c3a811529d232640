"""A backbone with a head, and what detectors may ask of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs, identity, inputs_of
from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Outputs, read_only
from lgl_bench.heads import Head, heads


class Model(nn.Module):
    """A classifier of the known classes.

    Attributes:
        known: Global class id of each output column.
    """

    def __init__(self, backbone: Backbone, head: Head, known: IntArray) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head
        self.known = read_only(known)
        self._answers: dict[tuple[int, int], tuple[Graph, Outputs]] = {}

    @property
    def track(self) -> str:
        """Called transductive if its backbone or head is."""
        return "transductive" if "transductive" in (self.backbone.track, self.head.track) else "inductive"

    def forward(self, inputs: Inputs) -> Outputs:
        """Logits and embeddings of every vertex, with gradients."""
        z, output = self.backbone(inputs)
        return Outputs(self.head.logits(output), z)

    def outputs(self, graph: Graph) -> Outputs:
        """Logits and embeddings in evaluation mode; computed once per graph."""
        found = self._answers.get(identity(graph))
        if found is None:
            self.eval()
            with torch.no_grad():
                z, output = self.backbone(inputs_of(graph))
                answer = Outputs(self.head.logits(output), z)
            found = self._answers[identity(graph)] = graph, answer
        return found[1]

    def logits_from(self, graph: Graph, embeddings: torch.Tensor) -> torch.Tensor:
        """Logits from given embeddings: the last layer and the head alone."""
        self.eval()
        with torch.no_grad():
            linear = self.head.linear
            output = self.backbone.last(inputs_of(graph), embeddings) if linear else embeddings
            return self.head.logits(output)

    def probabilities(self, graph: Graph) -> FloatArray:
        """Class probabilities, (n, known classes)."""
        with torch.no_grad():
            return self.head.probabilities(self.outputs(graph).logits).double().numpy()

    def predict(self, graph: Graph) -> IntArray:
        """Global class id with the largest logit."""
        predicted: IntArray = self.known[self.predicted_columns(graph)]
        return predicted

    def predicted_columns(self, graph: Graph) -> IntArray:
        """Output column with the largest logit."""
        columns: IntArray = self.outputs(graph).logits.argmax(dim=1).numpy()
        return columns

    def columns(self, labels: IntArray) -> IntArray:
        """Output column of each global class id; -1 for those that are not known."""
        table = np.full(int(max(labels.max(initial=0), self.known.max())) + 2, -1, dtype=np.int64)
        table[self.known] = np.arange(len(self.known))
        return table[labels]

    def grow(self, known: IntArray) -> None:
        """Makes room for classes that became known; those known keep their columns."""
        if not np.array_equal(known[: len(self.known)], self.known):
            raise UsageError("known classes can only be appended")
        if len(known) > len(self.known):
            self.head.grow(len(known))
            if self.head.linear:
                self.backbone.grow(len(known))
        self.known = read_only(known)
        self.forget()

    def forget(self) -> None:
        """Drops remembered outputs, because the weights change."""
        self._answers.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_answers": {}}


def predict_once(model: Model, graph: Graph) -> IntArray:
    """Predicted classes of a graph that is not asked for again: what was not remembered before is not remembered."""
    parts = [part for part in model.modules() if isinstance(part, Model)]  # an ensemble has several
    new = [part for part in parts if identity(graph) not in part._answers]
    predicted = model.predict(graph)
    for part in new:
        part._answers.pop(identity(graph), None)
    return predicted


def build_model(backbone: str, head: str, features: int, known: IntArray, parameters: dict[str, Any]) -> Model:
    """A fresh model; weights are drawn from torch's current random state.

    Args:
        backbone: By name.
        head: By name.
        features: Number of features.
        known: Global ids of the known classes.
        parameters: Of the backbone.
    """
    if len(known) < 2:
        raise UsageError(f"{len(known)} known class: a classifier needs at least two")
    head_type = heads.get(head)
    shape = Shape(features, len(known) if head_type.linear else None)
    try:
        body = backbones.get(backbone)(shape, **parameters)
        top = head_type(body.width, len(known))
    except TypeError as error:
        raise PluginError(
            f"the backbone {backbone} does not take {parameters}, or the head {head} not width and classes: {error}"
        ) from error
    return Model(body, top, known)
