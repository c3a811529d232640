"""ODIN (Liang et al. 2018) on graphs: temperature, and a small step of the input towards confidence.

x~ = x + eps * sign(gradient of sum_v log max_k softmax_k(f_v / T)), for non-zero features and, where the backbone
has them, arc weights (every arc its own, self-loops too, the normalisation computed anew); then
1 - max_k softmax_k(f~ / T).
"""

from __future__ import annotations

import torch

from lgl_bench.backbones.inputs import Inputs
from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.msp import msp
from lgl_bench.detectors.perturb import perturbed
from lgl_bench.training.model import Model


def confidence(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """Sum over vertices of log max_k softmax_k(f / T)."""
    return torch.log_softmax(logits / temperature, dim=1).amax(dim=1).sum()


@detectors.register("odin")
class Odin(Detector):
    """ODIN.

    Args:
        eps: Size of the step.
        temperature: T.
    """

    reads_outputs = False

    def __init__(self, eps: float = 0.05, temperature: float = 1000.0) -> None:
        if not temperature > 0 or eps < 0:
            raise UsageError(f"eps = {eps}, temperature = {temperature}: eps >= 0 and temperature > 0")
        self.eps = eps
        self.temperature = temperature

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        model.eval()

        def objective(inputs: Inputs) -> torch.Tensor:
            return confidence(model(inputs).logits, self.temperature)

        moved = perturbed(model, graph, objective, self.eps, arcs=True)
        with torch.no_grad():
            return msp(model(moved).logits, self.temperature).numpy()
