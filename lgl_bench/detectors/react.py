"""ReAct (Sun et al. 2021): embeddings clipped at a percentile of the training ones, then another detector."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Outputs, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.training.model import Model


@detectors.register("react")
class React(Detector):
    """Wraps a detector that works on outputs alone.

    Args:
        base: The detector that scores what is left.
        percentile: Over all units of the training embeddings.
    """

    def __init__(self, base: Detector, percentile: float = 90.0) -> None:
        if not 0 < percentile <= 100:
            raise UsageError(f"percentile = {percentile}: it must lie in (0, 100]")
        if not base.reads_outputs:
            raise UsageError(f"react cannot wrap {type(base).__name__.lower()}: it computes gradients of the input")
        self.base = base
        self.percentile = percentile
        self.heads = base.heads  # type: ignore[misc]
        self.bounded = base.bounded  # type: ignore[misc]

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Learns where to clip."""
        self.limit_ = self._limit(model, train, fit_vertices)
        now = _Clipped(model, self.limit_)
        seen = now
        if calibration.model is not model:
            before = self._limit(calibration.model, calibration.train, calibration.fit_vertices)
            seen = _Clipped(calibration.model, before)
        clipped = replace(calibration, model=seen)  # type: ignore[arg-type]
        self.base.fit(now, train, fit_vertices, clipped)  # type: ignore[arg-type]

    def _limit(self, model: Model, train: Snapshot, fit_vertices: IntArray) -> float:
        z = model.outputs(train.graph).embeddings[torch.from_numpy(fit_vertices)]
        return float(np.percentile(z.double().numpy(), self.percentile))

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """As the wrapped detector."""
        if not hasattr(self, "limit_"):
            raise PluginError("react has not been fitted; call fit first")
        return self.base.score(_Clipped(model, self.limit_), graph)  # type: ignore[arg-type]


class _Clipped:
    """A model whose embeddings are clipped before the last layer."""

    def __init__(self, model: Model, limit: float) -> None:
        self._model = model
        self._limit = limit

    def outputs(self, graph: Graph) -> Outputs:
        """Clipped embeddings and the logits they give."""
        z = self._model.outputs(graph).embeddings.clamp(max=self._limit)
        return Outputs(self._model.logits_from(graph, z), z)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)
