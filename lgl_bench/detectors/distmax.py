"""DisMax (Macedo et al. 2022): -(max L + mean L - H(softmax L)), on the IsoMax+ head.

D_k = |d| * ||z/|z| - p_k/|p_k| || / sqrt 2, and L_k = -(D_k + mean_j D_j). The mean term cancels in the
softmax, so without its image-only regulariser DisMax trains as IsoMax+ does.
"""

from __future__ import annotations

import math

import torch

from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.entropy import entropy
from lgl_bench.heads.isomax import IsoMaxPlus
from lgl_bench.training.model import Model


def distmax(distances: torch.Tensor, scale: float) -> torch.Tensor:
    """From distances to prototypes on the unit sphere: higher is more novel."""
    d = abs(scale) * distances.double() / math.sqrt(2)
    logits = -(d + d.mean(dim=1, keepdim=True))
    return -(logits.amax(dim=1) + logits.mean(dim=1) - entropy(logits))


@detectors.register("distmax")
class DistMax(Detector):
    """Distances to the prototypes of the head isomax+, with their mean and the entropy of the classes."""

    heads = ("isomax+",)
    bounded = False

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """Any real number."""
        head = model.head
        assert isinstance(head, IsoMaxPlus)
        with torch.no_grad():
            distances = head.distances(model.outputs(graph).embeddings)
            return distmax(distances, float(head.distance_scale)).numpy()
