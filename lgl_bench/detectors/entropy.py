"""Entropy of the class probabilities: H(softmax f) / log C."""

from __future__ import annotations

import math

import torch

from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.training.model import Model


def entropy(logits: torch.Tensor) -> torch.Tensor:
    """H(softmax f): higher is more novel."""
    log_p = torch.log_softmax(logits.double(), dim=1)
    return -(log_p.exp() * log_p).sum(dim=1)


@detectors.register("entropy")
class Entropy(Detector):
    """The entropy of the class probabilities, divided by the largest it can be."""

    reads_probabilities = True

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        logits = model.outputs(graph).logits
        return (entropy(logits) / math.log(logits.shape[1])).clamp(0, 1).numpy()
