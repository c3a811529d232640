"""Embeddings changed before the last layer, then another detector: what ReAct, ASH and SCALE share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Outputs, Snapshot
from lgl_bench.detectors import Calibration, Detector
from lgl_bench.training.model import Model


class ChangedModel:
    """A model whose embeddings are changed before the last layer; whatever it says follows from them.

    The last layer is applied as it is: if it passes messages, the embeddings of the neighbours are changed too.
    """

    def __init__(self, model: Model, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self._model = model
        self._change = change

    def outputs(self, graph: Graph) -> Outputs:
        """Changed embeddings and the logits they give."""
        z = self._change(self._model.outputs(graph).embeddings)
        return Outputs(self._model.logits_from(graph, z), z)

    # These read `outputs` and nothing else.
    probabilities: Any = Model.probabilities
    predict: Any = Model.predict
    predicted_columns: Any = Model.predicted_columns

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


class ChangesEmbeddings(Detector):
    """Base of detectors that wrap one that works on outputs alone: write `change`.

    Optional: `learn`, what has to be known of training embeddings first.

    Args:
        base: The detector that scores what comes of the change.
    """

    cost = "last layer"

    def __init__(self, base: Detector) -> None:
        if not base.reads_outputs:
            raise UsageError(
                f"{_name(self)} cannot wrap {_name(base)}: it computes gradients of the input, passes of its own, "
                "or asks several models"
            )
        self.base = base
        self.heads = base.heads  # type: ignore[misc]
        self.bounded = base.bounded  # type: ignore[misc]
        self.track = base.track  # type: ignore[misc]

    @abstractmethod
    def change(self, z: torch.Tensor, learned: float) -> torch.Tensor:
        """New embeddings, one row per vertex."""

    def learn(self, z: torch.Tensor) -> float:
        """A number from the training embeddings; nothing unless written otherwise."""
        return 0.0

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Learns the change, and fits the wrapped detector on changed embeddings."""
        self.learned_ = self._learned(model, train, fit_vertices)
        now = seen = self._changed(model, self.learned_)
        if calibration.model is not model:
            before = self._learned(calibration.model, calibration.train, calibration.fit_vertices)
            seen = self._changed(calibration.model, before)
        self.base.fit(now, train, fit_vertices, replace(calibration, model=seen))

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """As the wrapped detector."""
        if not hasattr(self, "learned_"):
            raise PluginError(f"{_name(self)} has not been fitted; call fit first")
        return self.base.score(self._changed(model, self.learned_), graph)

    def _learned(self, model: Model, train: Snapshot, fit_vertices: IntArray) -> float:
        return self.learn(model.outputs(train.graph).embeddings[torch.from_numpy(fit_vertices)])

    def _changed(self, model: Model, learned: float) -> Any:
        return ChangedModel(model, lambda z: self.change(z, learned))


def _name(detector: Detector) -> str:
    return type(detector).__name__.lower()
