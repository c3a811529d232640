"""IsoMax+ (Macedo and Ludermir 2022): half the distance to the nearest prototype on the unit sphere."""

from __future__ import annotations

import torch

from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.heads.isomax import IsoMaxPlus
from lgl_bench.training.model import Model


@detectors.register("isomax+")
class IsoMaxPlusDetector(Detector):
    """The distance to the nearest prototype of the head isomax+."""

    heads = ("isomax+",)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        assert isinstance(model.head, IsoMaxPlus)
        with torch.no_grad():
            distances = model.head.distances(model.outputs(graph).embeddings)
        return (distances.double().amin(dim=1) / 2).clamp(0, 1).numpy()
