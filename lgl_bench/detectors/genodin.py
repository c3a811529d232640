"""Generalized ODIN (Hsu et al. 2020): (1 - max_k h_k) / 2 after a small step of the input towards a larger max h.

The size of the step is the one of a short list that makes calibration vertices look most familiar.
"""

from __future__ import annotations

import torch

from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.detectors.perturb import perturbed
from lgl_bench.heads.genodin import GenOdin
from lgl_bench.training.model import Model

STEPS = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)


@detectors.register("genodin")
class GenOdinDetector(Detector):
    """How far the nearest class of the head genodin is, after a small step of the input towards confidence."""

    heads = ("genodin",)
    reads_outputs = False
    cost = "gradient"

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Chooses the step with the largest mean of max h on the calibration vertices; the smallest of equals."""
        means = [
            -self._novelty(calibration.model, calibration.graph, eps)[calibration.vertices].mean() for eps in STEPS
        ]
        self.eps_ = STEPS[max(range(len(STEPS)), key=lambda i: (means[i], -i))]

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        if not hasattr(self, "eps_"):
            raise PluginError("genodin has not been fitted; call fit first")
        return self._novelty(model, graph, self.eps_)

    @staticmethod
    def _novelty(model: Model, graph: Graph, eps: float) -> FloatArray:
        head = model.head
        assert isinstance(head, GenOdin)
        model.eval()

        def largest(inputs: Inputs) -> torch.Tensor:
            return head.cosines(model.backbone(inputs)[1]).amax(dim=1)

        if eps == 0:
            with torch.no_grad():
                h = head.cosines(model.outputs(graph).embeddings).amax(dim=1)
        else:
            moved = perturbed(model, graph, lambda inputs: largest(inputs).sum(), eps)
            with torch.no_grad():
                h = largest(moved)
        return ((1.0 - h.double()) / 2).clamp(0, 1).numpy()
