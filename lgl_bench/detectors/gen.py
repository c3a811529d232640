"""Generalized entropy (GEN: Liu et al. 2023): sum over the M largest p of p^g (1 - p)^g."""

from __future__ import annotations

import math
from types import MappingProxyType

import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.training.model import Model


def generalized_entropy(logits: torch.Tensor, gamma: float = 0.1, m: int = 100) -> torch.Tensor:
    """Higher is more novel. All classes count if there are fewer than M."""
    log_p = torch.log_softmax(logits.double(), dim=1).sort(dim=1, descending=True).values
    # 1 - p of the largest p is the sum of the others: the difference would be 0 where the model is sure.
    first = torch.logsumexp(log_p[:, 1:], dim=1, keepdim=True)
    log_rest = torch.cat([first, torch.log1p(-log_p[:, 1:].exp())], dim=1)
    return (gamma * (log_p + log_rest))[:, :m].exp().sum(dim=1)


@detectors.register("gen")
class Gen(Detector):
    """An entropy that counts small class probabilities more than the usual one.

    At least 0; how large depends on the number of classes, so it counts as unbounded.

    Args:
        gamma: g; the smaller, the more probabilities near 0 count.
        m: M, how many of the largest probabilities count.
    """

    bounded = False
    reads_probabilities = True
    grid = MappingProxyType({"gamma": (0.05, 0.1, 0.5)})

    def __init__(self, gamma: float = 0.1, m: int = 100) -> None:
        if not 0 < gamma < math.inf or m < 1:
            raise UsageError(f"gamma = {gamma}, m = {m}: gamma > 0, finite, and m >= 1")
        self.gamma = gamma
        self.m = m

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """At least 0."""
        return generalized_entropy(model.outputs(graph).logits, self.gamma, self.m).numpy()
