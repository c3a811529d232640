"""OODGAT (Song and Wang 2022): sigmoid(mean of the attention weights w over the heads of all layers)."""

from __future__ import annotations

import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.oodgat import OODGAT, novelty
from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.training.model import Model


@detectors.register("oodgat")
class OodgatDetector(Detector):
    """The attention weights of the backbone oodgat, which are trained to tell new vertices from known ones.

    Reads what only the backbone of the same name computes.
    """

    backbones = ("oodgat",)
    reads_outputs = False

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        if not isinstance(model.backbone, OODGAT):
            raise PluginError(f"oodgat scores on the backbone oodgat, not on {type(model.backbone).__name__}")
        model.eval()
        with torch.no_grad():
            _, _, weights = model.backbone.weighted(inputs_of(graph))
        return novelty([one.double() for one in weights]).numpy()
