"""Nearest-neighbour guidance (NNGuide: Park et al. 2023): -E * mean of the k largest of u . u_j E_j over a bank.

E = logsumexp(f) and u = z/|z|; the bank are training vertices j.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.seeds import generator
from lgl_bench.core.types import FloatArray, Graph, IntArray, Outputs, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.detectors.energy import energy
from lgl_bench.training.model import Model

_TOGETHER = 1 << 20  # products that are held at a time: 4 MB


def guidance(unit: torch.Tensor, bank: torch.Tensor, k: int) -> FloatArray:
    """Mean of the k largest products of each row with those of the bank.

    Products are single precision, as embeddings are, and only parted at the k-th: nobody needs their order.
    """
    rows = max(1, _TOGETHER // len(bank))
    found = np.empty(len(unit))
    first = len(bank) - k
    for start in range(0, len(unit), rows):
        products = (unit[start : start + rows].float() @ bank.T.float()).numpy()
        products.partition(first, axis=1)
        found[start : start + rows] = products[:, first:].mean(axis=1, dtype=np.float64)
    return found


@detectors.register("nnguide")
class NNGuide(Detector):
    """The energy, weighted by how similar an embedding is to those of confident training vertices.

    Args:
        k: How many of the bank count; at most a tenth of it, and at least one.
        bank: Training vertices that are kept; so many are drawn, by the run's seed, if there are more.
    """

    bounded = False
    grid = MappingProxyType({"k": (10, 100)})

    def __init__(self, k: int = 100, bank: int = 10_000) -> None:
        if k < 1 or bank < 1:
            raise UsageError(f"k = {k}, bank = {bank}: both must be at least 1")
        self.k = k
        self.bank = bank

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Keeps training embeddings, each weighted by its energy."""
        kept = fit_vertices
        if len(kept) > self.bank:
            kept = np.sort(generator(calibration.seed, "nnguide").choice(kept, self.bank, replace=False))
        unit, confidence = _parts(model.outputs(train.graph))
        chosen = torch.from_numpy(kept)
        self.bank_ = unit[chosen] * confidence[chosen, None]
        self.k_ = max(1, min(self.k, len(kept) // 10))

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """Any real number."""
        if not hasattr(self, "bank_"):
            raise PluginError("nnguide has not been fitted; call fit first")
        unit, confidence = _parts(model.outputs(graph))
        novelty: FloatArray = -confidence.numpy() * guidance(unit, self.bank_, self.k_)
        return novelty


def _parts(outputs: Outputs) -> tuple[torch.Tensor, torch.Tensor]:
    """Embeddings of length 1, and logsumexp(f)."""
    return torch.nn.functional.normalize(outputs.embeddings.double(), dim=1), -energy(outputs.logits)
