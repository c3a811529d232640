"""Energy (Liu et al. 2020): -logsumexp(f)."""

from __future__ import annotations

import math

import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.training.model import Model


def energy(logits: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """-T * logsumexp(f / T): higher is more novel."""
    return -temperature * torch.logsumexp(logits.double() / temperature, dim=1)


@detectors.register("energy")
class Energy(Detector):
    """Minus the log-sum-exp of the logits: little evidence for any class looks new.

    Args:
        temperature: T.
    """

    bounded = False

    def __init__(self, temperature: float = 1.0) -> None:
        if not 0 < temperature < math.inf:
            raise UsageError(f"temperature = {temperature}: it must be positive and finite")
        self.temperature = temperature

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """Any real number."""
        return energy(model.outputs(graph).logits, self.temperature).numpy()
