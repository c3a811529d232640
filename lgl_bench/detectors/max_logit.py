"""Maximum logit (Hendrycks et al. 2022): -max_k f_k."""

from __future__ import annotations

from lgl_bench.core.types import FloatArray, Graph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.training.model import Model


@detectors.register("max-logit")
class MaxLogit(Detector):
    """Minus the largest logit."""

    bounded = False

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """Any real number."""
        return -model.outputs(graph).logits.double().amax(dim=1).numpy()  # type: ignore[no-any-return]
