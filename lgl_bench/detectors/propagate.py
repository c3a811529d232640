"""Scores propagated along the edges (GNNSafe: Wu et al. 2023): s <- alpha s + (1 - alpha) P s, some times over.

P is the mean over the neighbours, and an isolated vertex keeps its own value. s is the raw score of the wrapped
detector; GOOD with weight 1 - alpha is one step of it on mapped scores. `gnnsafe` is the energy propagated.
"""

from __future__ import annotations

from types import MappingProxyType

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.mixing import mix
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.detectors.energy import Energy
from lgl_bench.detectors.good import neighbour_mean
from lgl_bench.training.model import Model


def propagate(scores: FloatArray, edges: IntArray, steps: int, alpha: float) -> FloatArray:
    """Scores after some steps along the edges.

    >>> import numpy as np
    >>> propagate(np.array([0.0, 1.0, 0.4]), np.array([[0, 1], [1, 0]]), steps=1, alpha=0.75).tolist()
    [0.25, 0.75, 0.4]
    """
    for _ in range(steps):
        scores = mix(scores, neighbour_mean(scores, edges), 1.0 - alpha)
    return scores


@detectors.register("propagate")
class Propagate(Detector):
    """The scores of another detector, propagated along the edges some times over; as bounded as what it wraps.

    Args:
        base: The detector whose scores are propagated.
        steps: How often.
        alpha: Weight of a vertex's own score, in [0, 1].
    """

    grid = MappingProxyType({"steps": (1, 2, 4), "alpha": (0.25, 0.5, 0.75)})

    def __init__(self, base: Detector, steps: int = 2, alpha: float = 0.5) -> None:
        if steps < 1:
            raise UsageError(f"steps = {steps}: it must be at least 1")
        if not 0 <= alpha <= 1:
            raise UsageError(f"alpha = {alpha}: it must lie in [0, 1]")
        self.base = base
        self.steps = steps
        self.alpha = alpha
        self.heads = base.heads  # type: ignore[misc]
        self.bounded = base.bounded  # type: ignore[misc]
        self.reads_outputs = base.reads_outputs  # type: ignore[misc]
        self.track = base.track  # type: ignore[misc]

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Fits the wrapped detector."""
        self.base.fit(model, train, fit_vertices, calibration)
        self.fitted_ = True

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In the range of the wrapped detector."""
        if not hasattr(self, "fitted_"):
            raise PluginError(f"{type(self).__name__.lower()} has not been fitted; call fit first")
        return propagate(self.base.score(model, graph), graph.edges, self.steps, self.alpha)


@detectors.register("gnnsafe")
class GnnSafe(Propagate):
    """GNNSafe (Wu et al. 2023): the energy propagated along the edges, `propagate(energy)`.

    Args:
        steps, alpha: See `Propagate`.
    """

    def __init__(self, steps: int = 2, alpha: float = 0.5) -> None:
        super().__init__(Energy(), steps, alpha)
