"""Monte-Carlo dropout (Gal and Ghahramani 2016): 1 - max of the mean p over passes with dropout on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.types import Graph
from lgl_bench.detectors import detectors
from lgl_bench.detectors.passes import MeanOverPasses
from lgl_bench.training.model import Model


@contextlib.contextmanager
def dropout_on(model: Model) -> Iterator[None]:
    """Units are dropped as in training; batch statistics stay frozen. Afterwards the model is in evaluation mode."""
    model.train()
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.eval()
    try:
        yield
    finally:
        model.eval()


def mean_probabilities(model: Model, graph: Graph, passes: int) -> torch.Tensor:
    """Mean p over passes whose dropped units come from torch's current random state."""
    inputs = inputs_of(graph)
    with torch.no_grad(), dropout_on(model):
        total = torch.softmax(model(inputs).logits.double(), dim=1)
        for _ in range(passes - 1):
            total += torch.softmax(model(inputs).logits.double(), dim=1)
    return total / passes


@detectors.register("mc-dropout")
class McDropout(MeanOverPasses):
    """One minus the largest mean probability over passes with dropout on.

    Draws from the run's own seed; on a model without dropout it is MSP.

    Args:
        passes: Forward passes whose probabilities are averaged.
    """

    draws = "mc-dropout"

    def __init__(self, passes: int = 10) -> None:
        super().__init__(passes)

    def mean_probabilities(self, model: Model, graph: Graph) -> torch.Tensor:
        """See `mean_probabilities`."""
        return mean_probabilities(model, graph, self.passes)
