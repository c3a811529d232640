"""Maximum softmax probability (Hendrycks and Gimpel 2017): 1 - max_k softmax_k(f)."""

from __future__ import annotations

import torch

from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.training.model import Model


def msp(logits: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """1 - max_k softmax_k(f / T): higher is more novel."""
    return 1.0 - torch.softmax(logits.double() / temperature, dim=1).amax(dim=1)


@detectors.register("msp")
class Msp(Detector):
    """One minus the largest class probability: the baseline every paper compares with."""

    reads_probabilities = True

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        return msp(model.outputs(graph).logits).numpy()
