"""ReAct (Sun et al. 2021): embeddings clipped at a percentile of the training ones, then another detector."""

from __future__ import annotations

from typing import Any

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
        z = model.outputs(train.graph).embeddings[torch.from_numpy(fit_vertices)]
        self.limit_ = float(torch.quantile(z.double().flatten()[:: max(1, z.numel() // 2**23)], self.percentile / 100))
        self.base.fit(_Clipped(model, self.limit_), train, fit_vertices, calibration)  # type: ignore[arg-type]

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
