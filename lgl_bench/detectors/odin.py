"""ODIN (Liang et al. 2018) on graphs: 1 - max_k softmax_k(f~ / T), f~ after a small step of the input x.

x~ = x + eps * scale * sign(gradient of sum_v log max_k softmax_k(f_v / T)) for non-zero features, and w~ = w + eps *
sign(gradient) for arc weights if the backbone has them (every arc its own, self-loops too, the normalisation
computed anew); then 1 - max_k softmax_k(f~ / T). The scale is the standard deviation of the non-zero training features,
1 if they are 0 or 1.
"""

from __future__ import annotations

import math
from types import MappingProxyType

import torch

from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.detectors.msp import msp
from lgl_bench.detectors.perturb import feature_scale, perturbed
from lgl_bench.training.model import Model


def confidence(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """Sum over vertices of log max_k softmax_k(f / T)."""
    return torch.log_softmax(logits / temperature, dim=1).amax(dim=1).sum()


@detectors.register("odin")
class Odin(Detector):
    """One minus the largest probability at a high temperature, after a small step of the input towards confidence.

    Args:
        eps: Size of the step, in units of the features' scale.
        temperature: T.
    """

    reads_outputs = False
    cost = "gradient"
    # Without a step and with T = 1 it is MSP, so a choice can fall back on it.
    grid = MappingProxyType({"eps": (0.0, 0.01, 0.05, 0.1, 0.2), "temperature": (1.0, 10.0, 1000.0)})

    def __init__(self, eps: float = 0.05, temperature: float = 1000.0) -> None:
        if not 0 < temperature < math.inf or not 0 <= eps < math.inf:
            raise UsageError(f"eps = {eps}, temperature = {temperature}: eps >= 0 and temperature > 0, both finite")
        self.eps = eps
        self.temperature = temperature

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Measures the scale of the training features."""
        self.scale_ = feature_scale(train.graph.features)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        if not hasattr(self, "scale_"):
            raise PluginError("odin has not been fitted; call fit first")
        model.eval()
        if self.eps == 0:
            return msp(model.outputs(graph).logits, self.temperature).numpy()

        def objective(inputs: Inputs) -> torch.Tensor:
            return confidence(model(inputs).logits, self.temperature)

        moved = perturbed(model, graph, objective, self.eps, arcs=True, scale=self.scale_)
        with torch.no_grad():
            return msp(model(moved).logits, self.temperature).numpy()
