"""OpenWGL (Wu et al. 2020): 1 - max of the mean p over latent vectors drawn anew, pass by pass."""

from __future__ import annotations

import torch

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.openwgl import OpenWGL
from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import Graph
from lgl_bench.detectors import detectors
from lgl_bench.detectors.passes import MeanOverPasses
from lgl_bench.training.model import Model


def mean_probabilities(model: Model, graph: Graph, passes: int) -> torch.Tensor:
    """Mean p over latent vectors from torch's current random state; the convolutions before them are computed once."""
    backbone = model.backbone
    if not isinstance(backbone, OpenWGL):
        raise PluginError(f"openwgl scores on the backbone openwgl, not on {type(backbone).__name__}")
    model.eval()
    inputs = inputs_of(graph)
    total = torch.zeros(graph.num_vertices, len(model.known), dtype=torch.float64)
    with torch.no_grad():
        mean, log_deviation = backbone.distribution(inputs)
        for _ in range(passes):
            output = backbone.last(inputs, backbone.draw(mean, log_deviation))
            total += model.head.probabilities(model.head.logits(output).double())
    return total / passes


@detectors.register("openwgl")
class OpenWglDetector(MeanOverPasses):
    """One minus the largest mean probability over latent vectors that the backbone openwgl draws.

    Reads what only the backbone of the same name computes; draws from the run's own seed.

    Args:
        passes: Latent vectors that are drawn per vertex.
    """

    backbones = ("openwgl",)
    draws = "openwgl"

    def __init__(self, passes: int = 100) -> None:
        super().__init__(passes)

    def mean_probabilities(self, model: Model, graph: Graph) -> torch.Tensor:
        """See `mean_probabilities`."""
        return mean_probabilities(model, graph, self.passes)
