"""NodeSafe (Yang et al. 2024): the energy propagated along the edges, as GNNSafe, after training with its head."""

from __future__ import annotations

from lgl_bench.detectors import detectors
from lgl_bench.detectors.propagate import GnnSafe


@detectors.register("nodesafe")
class NodeSafeDetector(GnnSafe):
    """GNNSafe on the head nodesafe, which holds the logits of training vertices to one length and one sum.

    Args:
        steps, alpha: See `Propagate`.
    """

    heads = ("nodesafe",)

    def __init__(self, steps: int = 2, alpha: float = 0.5) -> None:
        super().__init__(steps, alpha)
        self.heads = type(self).heads  # type: ignore[misc]
