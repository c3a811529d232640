"""1 - max of the mean p over passes that differ in what is drawn: what Monte-Carlo dropout and OpenWGL share."""

from __future__ import annotations

from abc import abstractmethod

import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector
from lgl_bench.training.model import Model
from lgl_bench.training.trainer import seeded


class MeanOverPasses(Detector):
    """Base of detectors that average probabilities over passes: write `mean_probabilities`, and set `draws`.

    Args:
        passes: How many.
    """

    reads_outputs = False
    cost = "several passes"
    draws: str
    """Its name, which its draws are seeded by together with the run's own seed."""

    def __init__(self, passes: int) -> None:
        if passes < 1:
            raise UsageError(f"passes = {passes}: it must be at least 1")
        self.passes = passes

    @abstractmethod
    def mean_probabilities(self, model: Model, graph: Graph) -> torch.Tensor:
        """Mean p over the passes, drawn from torch's current random state, (n, known classes)."""

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Takes the seed of the run."""
        self.seed_ = calibration.seed

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        if not hasattr(self, "seed_"):
            raise PluginError(f"{self.draws} has not been fitted; call fit first")
        with seeded(self.seed_, self.draws):
            p = self.mean_probabilities(model, graph)
        return (1.0 - p.amax(dim=1)).clamp(0, 1).numpy()
