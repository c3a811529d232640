"""GRASP (Ma et al. 2024): 1 - s / c, s the confidence propagated with edges added among helpful training vertices.

s is the largest softmax probability. Of the scored vertices those above the (100 - q)-th percentile of s look known,
those below the q-th look new. For each training vertex h = (neighbours that look known) / (neighbours that look new +
1); G is the half of the training vertices with the largest h, of equals the more confident ones. d is the degree, plus
|G| inside G, and s = 1 on training vertices. Some times over,

    s <- alpha s + (1 - alpha) [(sum of s over the neighbours) / d + delta (sum of s over G) / d, inside G only],

and then s >= 1 on training vertices; a vertex with d = 0 keeps s. No s exceeds c = max(1, delta)^steps, so the novelty
is 1 - s / c.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import BoolArray, FloatArray, Graph, IntArray, ScoredGraph
from lgl_bench.detectors import Detector, detectors
from lgl_bench.detectors.msp import msp
from lgl_bench.training.model import Model


def helpful(s: FloatArray, edges: IntArray, scored: IntArray, trained: IntArray, percentile: float) -> BoolArray:
    """G: which vertices are the training vertices whose neighbours look known rather than new."""
    inside = np.zeros(len(s), dtype=bool)
    if not len(scored):
        return inside
    low, high = np.percentile(s[scored], [percentile, 100 - percentile])
    known, new = (np.zeros(len(s)) for _ in range(2))
    known[scored], new[scored] = s[scored] > high, s[scored] < low
    near_known, near_new = (np.bincount(edges[1], weights=which[edges[0]], minlength=len(s)) for which in (known, new))
    h = (near_known / (near_new + 1))[trained]
    order = np.lexsort((-s[trained], -h))
    inside[trained[order[: len(trained) // 2]]] = True
    return inside


def spread(
    s: FloatArray, edges: IntArray, trained: IntArray, inside: BoolArray, steps: int, alpha: float, delta: float
) -> FloatArray:
    """Confidence after some steps over the graph with every pair of G joined."""
    d = np.bincount(edges[1], minlength=len(s)) + inside.sum() * inside
    s = s.copy()
    s[trained] = 1.0
    for _ in range(steps):
        total = np.bincount(edges[1], weights=s[edges[0]], minlength=len(s)) + delta * s[inside].sum() * inside
        s = alpha * s + (1 - alpha) * np.where(d > 0, total / np.maximum(d, 1), s)
        s[trained] = np.maximum(s[trained], 1.0)
    return s


@detectors.register("grasp")
class Grasp(Detector):
    """Confidence propagated with edges added among helpful training vertices; sees all scored vertices together.

    Args:
        steps: How often confidence is propagated.
        alpha: Weight of a vertex's own confidence, in [0, 1].
        delta: Weight of the edges inside G, in [0, 2].
        percentile: q, below 50.
    """

    reads_probabilities = True
    track = "transductive"
    grid = MappingProxyType({"steps": (4, 8, 16), "alpha": (0.0, 0.5)})

    def __init__(self, steps: int = 8, alpha: float = 0.0, delta: float = 1.001, percentile: float = 5.0) -> None:
        if not 1 <= steps <= 100:
            raise UsageError(f"steps = {steps}: it must lie between 1 and 100")
        if not 0 <= alpha <= 1 or not 0 <= delta <= 2:
            raise UsageError(f"alpha = {alpha}, delta = {delta}: alpha lies in [0, 1] and delta in [0, 2]")
        if not 0 <= percentile < 50:
            raise UsageError(f"percentile = {percentile}: it must lie in [0, 50)")
        self.steps = steps
        self.alpha = alpha
        self.delta = delta
        self.percentile = percentile

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        if not isinstance(graph, ScoredGraph):
            raise PluginError(
                "grasp has to know which vertices are scored; a detector that wraps it takes over its track "
                "(self.track = base.track) and hands on the graph as it is"
            )
        if graph.trained is None:
            raise PluginError("grasp has to know the training vertices, and the protocol does not set Task.trained")
        s = 1.0 - msp(model.outputs(graph).logits).numpy()
        inside = helpful(s, graph.edges, graph.scored, graph.trained, self.percentile)
        s = spread(s, graph.edges, graph.trained, inside, self.steps, self.alpha, self.delta)
        return np.clip(1.0 - s / max(1.0, self.delta) ** self.steps, 0.0, 1.0)
