"""DOC (Shu et al. 2017) and gDOC (Galke et al. 2021): 1 - max_k sigmoid(f_k)."""

from __future__ import annotations

import torch

from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.training.model import Model


class _LargestSigmoid(Detector):
    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        return 1.0 - torch.sigmoid(model.outputs(graph).logits.double()).amax(dim=1).numpy()


@detectors.register("doc")
class DocDetector(_LargestSigmoid):
    """One minus the largest sigmoid of the head doc, which has one sigmoid per class."""

    heads = ("doc",)


@detectors.register("gdoc")
class GDocDetector(_LargestSigmoid):
    """As doc, on the head gdoc, whose loss weights positives against the imbalance of classes."""

    heads = ("gdoc",)
