"""Detectors: how novel a vertex looks to a model. Higher is more novel, everywhere.

A detector returns one raw score per vertex. If raw scores have no bounds they are mapped into [0, 1] with the
median and the spread of calibration scores (see `mapping`); thresholds and the meta-detector GOOD see only mapped
scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.expressions import Constant
from lgl_bench.core.registry import Registry
from lgl_bench.core.types import FloatArray, Graph, IntArray, ScoredGraph, Snapshot
from lgl_bench.training.model import Model

Cost: TypeAlias = Literal["none", "one pass", "last layer", "several passes", "several fits", "gradient"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Vertices a detector or threshold may learn from, and the model that scores them.

    Attributes:
        model: The current model; in a temporal protocol the one of the year before, which had not seen them. Only the
            first task of such a protocol has nothing but vertices that its model was trained on.
        train: What that model was trained on.
        fit_vertices: The vertices of its loss.
        graph: The graph the calibration vertices are scored on.
        vertices: Which ones.
        seed: Of the run; whatever a detector draws comes from it (`lgl_bench.core.seeds`).
        trained: Vertices of `graph` that its model was trained on; None if the protocol does not say.
    """

    model: Model
    train: Snapshot
    fit_vertices: IntArray
    graph: Graph
    vertices: IntArray
    seed: int = 0
    trained: IntArray | None = None


class Detector(ABC):
    """Base of every detector: write `score`, and `fit` if something has to be learned first.

    What `fit` learns is kept in attributes that end in `_`; parameters are never changed.

    A detector that looks at the scored vertices together says so by `track = "transductive"`. The graph it is given is
    then a `ScoredGraph`, with `scored` and `trained`; others get a `Graph`, which has neither. One that wraps another
    takes over its track, and hands on the graph as it is.
    """

    heads: ClassVar[tuple[str, ...]] = ("softmax",)
    """Heads it can score on; the first is the one it is trained with. Empty for any: then softmax's fits are taken."""
    backbones: ClassVar[tuple[str, ...]] = ()
    """Backbones it can score on, if it reads what only these compute; empty for any. On others it is left out of a run,
    and so is whatever wraps it."""
    bounded: ClassVar[bool] = True
    """Whether raw scores lie in [0, 1] as they are."""
    reads_outputs: ClassVar[bool] = True
    """Whether logits and embeddings are all it reads, so that another detector may change them first."""
    reads_probabilities: ClassVar[bool] = False
    """Whether all it reads of a model is the softmax of the logits: an ensemble then hands it the mean of its members'.
    Of a detector that reads more, or something else, an ensemble takes the mean of the scores."""
    track: ClassVar[str] = "inductive"
    """Called transductive if it knows which vertices are scored; its rows are ranked apart from those of others."""
    cost: ClassVar[Cost] = "one pass"
    """What scoring a graph takes beside `fit`: no model, the outputs that all detectors of a fit share, the last layer
    once more, passes of its own, fits of its own, or a gradient of the input."""
    grid: ClassVar[Mapping[str, tuple[Constant, ...]]] = MappingProxyType({})
    """A few values per parameter to choose among if a run chooses (`select`); those set in the expression stay."""

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:  # noqa: B027
        """Learns what it needs from the training vertices; most detectors need nothing."""

    @abstractmethod
    def score(self, model: Model, graph: Graph) -> FloatArray:
        """Raw novelty of every vertex of a graph, shape (n,)."""


detectors: Registry[type[Any]] = Registry(
    "detector",
    "lgl_bench.detectors",
    tuple(
        f"lgl_bench.detectors.{name}"
        for name in (
            "msp",
            "max_logit",
            "entropy",
            "energy",
            "odin",
            "react",
            "mahalanobis",
            "knn",
            "isomax",
            "one_vs_rest",
            "genodin",
            "distmax",
            "good",
            "propagate",
            "vim",
            "ash",
            "scale",
            "fdbd",
            "nnguide",
            "she",
            "kl_matching",
            "gen",
            "rmds",
            "mc_dropout",
            "ensemble",
            "grasp",
            "logitnorm",
            "nodesafe",
            "evidence",
            "oodgat",
            "openwgl",
            "shortcuts",
        )
    ),
)


def head_of(detector: Detector) -> str:
    """The head a detector is trained with."""
    return detector.heads[0] if detector.heads else "softmax"


def scores_on(detector: Detector, head: str) -> bool:
    """Whether a detector can score on a head."""
    return not detector.heads or head in detector.heads


def graph_for(detector: Detector, graph: Graph, scored: IntArray, trained: IntArray | None) -> Graph:
    """The graph as a detector gets it: only a transductive one is told which vertices are scored and trained on."""
    if detector.track != "transductive":
        return graph
    return ScoredGraph(graph.features, graph.edges, graph.num_vertices, graph.born, scored, trained)


def checked(scores: Any, graph: Graph, name: str) -> FloatArray:
    """Scores of the right shape, finite, float64; otherwise an error that names the detector."""
    array = np.asarray(scores)
    if array.shape != (graph.num_vertices,):
        raise PluginError(
            f"the detector {name} returned shape {array.shape}; it must return one score per vertex, "
            f"({graph.num_vertices},)"
        )
    if array.dtype.kind not in "fiub":
        raise PluginError(f"the detector {name} returned {array.dtype}; scores must be numbers")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise PluginError(f"the detector {name} returned {int((~np.isfinite(array)).sum())} scores that are not finite")
    return array
