"""Little evidence is novel: -log alpha_0, as GKDE (Zhao et al. 2020) and GPN (Stadler et al. 2021) order vertices.

alpha_0 = sum_c alpha_c of the Dirichlet distribution of a vertex; both score with -alpha_0. The logarithm keeps the
order, and makes evidence that spreads over many powers of ten one that can be mapped and mixed with that of neighbours.
"""

from __future__ import annotations

from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.energy import energy
from lgl_bench.training.model import Model


class _Evidence(Detector):
    """The logits of its head are log alpha."""

    bounded = False

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """At most -log C, if alpha is at least 1 for each of the C classes."""
        return energy(model.outputs(graph).logits).numpy()


@detectors.register("gkde")
class GkdeDetector(_Evidence):
    """Little evidence is novel: -log alpha_0 of the head of the same name."""

    heads = ("gkde",)


@detectors.register("gpn")
class GpnDetector(_Evidence):
    """Little evidence is novel: -log alpha_0 of the head and the backbone of the same name."""

    heads = ("gpn",)
    backbones = ("gpn",)
