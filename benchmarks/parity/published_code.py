"""Plugins that do what the published code does differently, for `lgl-bench parity --as-published` alone.

They are written anew from what that code does (Open-World-LGL, Hoffmann et al. 2023), on top of our backbones, heads
and training. Nothing registers them but loading this file; `published_code.toml` says which cells they change:

- `odin-published`, a detector: x~ = (x + eps * sign(gradient of the sum of all logits)) * x, arcs left alone.
- `gdoc-printed`, a head and its detector: gDOC with the weights that the paper prints.
- `gdoc-graph`, a head and its detector, and `leave-class-out-told`, the protocol it needs: gDOC with weights counted
  over all vertices of the training graph. In the Planetoid split these are not balanced, and training vertices are.
- `isomax-published`, a head and its detector: IsoMax+ with prototypes from N(0, 10^2).
- `gat-published`, a backbone: GAT whose last layer has one head, of 64 outputs if prototypes follow.
- `leave-class-out-confused`, a protocol: Graph-MLP's static batches. Positions 0, ..., n_t - 1 of the n_t vertices of
  the training graph are used as vertex numbers of the whole graph, and the training mask is shuffled on the way. So the
  first n_t vertices of the whole graph are learned from, test vertices and the left-out class among them, with the
  labels of a random share.
- `leave-class-out-all-outputs`, a protocol: models have an output for the left-out class too, which no vertex has.
- `known-outputs(D)`, a detector: D on the outputs of known classes, if the model has one for the left-out class too.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from lgl_bench.backbones import Shape, backbones
from lgl_bench.backbones.gat import GAT, AttentionLayer
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.layers.sparse import SparseMatrix
from lgl_bench.backbones.walks.training_data import TrainingData
from lgl_bench.core.seeds import generator
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot, Task, Truth
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.detectors.isomax import IsoMaxPlusDetector
from lgl_bench.detectors.msp import msp
from lgl_bench.detectors.one_vs_rest import GDocDetector
from lgl_bench.heads import Head, heads
from lgl_bench.heads.isomax import IsoMaxPlus
from lgl_bench.heads.one_vs_rest import OneVsRest, positive_weights
from lgl_bench.protocols import protocols
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.splits import TEST, split_of
from lgl_bench.protocols.subgraph import induced
from lgl_bench.streams.stream import Stream
from lgl_bench.training.model import Model


def published_step(x: torch.Tensor, gradient: torch.Tensor, eps: float) -> torch.Tensor:
    """(x + eps * sign(gradient)) * x.

    >>> published_step(torch.tensor([1.0, 0.0, 0.5]), torch.tensor([-2.0, 3.0, 3.0]), 0.1).tolist()
    [0.8999999761581421, 0.0, 0.30000001192092896]
    """
    return (x + eps * gradient.sign()) * x


@detectors.register("odin-published")
class PublishedOdin(Detector):
    """ODIN as the published code computes it: 1 - max softmax(f~ / T) after its own step.

    Args:
        eps: Size of the step, in units of the features themselves.
        temperature: T, of the scores; the sign of the gradient does not depend on it.
    """

    reads_outputs = False

    def __init__(self, eps: float, temperature: float) -> None:
        self.eps = eps
        self.temperature = temperature

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        model.eval()
        start = inputs_of(graph)
        features = start.features

        def logits(values: torch.Tensor) -> torch.Tensor:
            # Of sparse features only the values that are not 0 are stored; the step leaves the others at 0.
            moved = features.with_values(values) if isinstance(features, SparseMatrix) else values
            found: torch.Tensor = model(start.moved(moved, None)).logits
            return found

        values = (features.values if isinstance(features, SparseMatrix) else features).detach().clone()
        values.requires_grad_(True)
        with torch.enable_grad():
            (gradient,) = torch.autograd.grad(logits(values).sum(), values)
        with torch.no_grad():
            return msp(logits(published_step(values, gradient, self.eps)), self.temperature).numpy()


def printed_weights(labels: torch.Tensor, classes: int) -> torch.Tensor:
    """(n - n_k) / n for each class k, n_k of the n labels being k: the weight of positives that the paper prints.

    >>> printed_weights(torch.tensor([0, 0, 0, 1]), 2).tolist()
    [0.25, 0.75]
    """
    return (len(labels) - torch.bincount(labels, minlength=classes).float()) / len(labels)


@heads.register("gdoc-printed")
class PrintedGDoc(OneVsRest):
    """gDOC with the weights that the paper prints, counted over all training vertices."""

    def begin(self, labels: torch.Tensor) -> None:
        """Counts the classes of all training vertices."""
        self._weights = printed_weights(labels, self.classes)

    def weights(self, labels: torch.Tensor) -> torch.Tensor:
        """Weight of the positives of each class."""
        return self._weights


@detectors.register("gdoc-printed")
class PrintedGDocDetector(GDocDetector):
    """gDOC's scores on the head of the same name."""

    heads = ("gdoc-printed",)


@heads.register("gdoc-graph")
class GraphGDoc(OneVsRest):
    """gDOC with weights counted over all vertices of the training graph, which the protocol leaves in `born`."""

    def graph_loss(self, data: TrainingData) -> None:
        """Counts the classes of all vertices of the graph; nothing is added to the loss."""
        trained = data.vertices.numpy()
        column = dict(zip(data.graph.born[trained].tolist(), data.labels[trained].tolist(), strict=True))
        columns = torch.tensor([column[one] for one in data.graph.born.tolist() if one in column])
        self._weights = positive_weights(columns, self.classes, "code")

    def weights(self, labels: torch.Tensor) -> torch.Tensor:
        """Weight of the positives of each class."""
        return self._weights


@detectors.register("gdoc-graph")
class GraphGDocDetector(GDocDetector):
    """gDOC's scores on the head of the same name."""

    heads = ("gdoc-graph",)


@protocols.register("leave-class-out-told")
class ToldLeaveClassOut(LeaveClassOut):
    """Leave-class-out whose training graph holds the labels of all its vertices, for `gdoc-graph` alone."""

    def tasks(self, stream: Stream, seed: int) -> Iterator[tuple[Task, Truth]]:
        """One task for each class left out."""
        codes = split_of(stream, self.split, seed)
        for task, truth in super().tasks(stream, seed):
            if task.role == "test":
                labels = stream.labels[(codes != TEST) & (stream.labels != int(task.fold))]
                yield replace(task, train=told(task.train, labels)), truth


def told(train: Snapshot, labels: IntArray) -> Snapshot:
    """A snapshot with the labels of all its vertices in `born`, where a static graph has nothing to say."""
    return replace(train, graph=replace(train.graph, born=labels))


@heads.register("isomax-published")
class PublishedIsoMax(IsoMaxPlus):
    """IsoMax+ with prototypes from N(0, 10^2): only directions count, and those of longer ones turn more slowly."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__(width, classes)
        self.prototypes.data.mul_(10)


@detectors.register("isomax-published")
class PublishedIsoMaxDetector(IsoMaxPlusDetector):
    """IsoMax+'s scores on the head of the same name."""

    heads = ("isomax-published",)


@backbones.register("gat-published")
class PublishedGAT(GAT):
    """GAT whose last layer has one head; what it embeds for prototypes has a width of its own.

    Args:
        shape, hidden, layers, dropout, heads, attn_dropout: See `GAT`.
        embedding: Outputs of the last layer if prototypes follow.
    """

    def __init__(
        self,
        shape: Shape,
        hidden: int = 8,
        layers: int = 2,
        dropout: float = 0.5,
        heads: int = 8,
        attn_dropout: float = 0.2,
        embedding: int = 64,
    ) -> None:
        super().__init__(shape, hidden, layers, dropout, heads, attn_dropout)
        self.embedding = embedding
        self.attention[-1] = AttentionLayer(hidden * heads, shape.outputs or embedding, 1, attn_dropout)

    @property
    def width(self) -> int:
        """That of the last layer for a prototype head."""
        return self.embedding if self.shape.outputs is None else super().width


@protocols.register("leave-class-out-all-outputs")
class AllOutputsLeaveClassOut(LeaveClassOut):
    """Leave-class-out with an output for every class of the graph, also for the one that is left out."""

    def __init__(self, split: str = "60-20-20") -> None:
        super().__init__(split)

    def tasks(self, stream: Stream, seed: int) -> Iterator[tuple[Task, Truth]]:
        """One task for each class left out."""
        for task, truth in super().tasks(stream, seed):
            yield replace(task, known=np.append(task.known, stand_in(stream.labels))), truth


def stand_in(labels: IntArray) -> int:
    """Under which id the left-out class has an output: one that no vertex has, or it would not be new to grading."""
    return int(labels.max()) + 1


@protocols.register("leave-class-out-confused")
class ConfusedLeaveClassOut(LeaveClassOut):
    """Leave-class-out with the training graph that Graph-MLP's static training in the published code learns from."""

    def __init__(self, split: str = "60-20-20") -> None:
        super().__init__(split)

    def tasks(self, stream: Stream, seed: int) -> Iterator[tuple[Task, Truth]]:
        """One task for each class left out."""
        for task, truth in super().tasks(stream, seed):
            yield confused(task, stream.labels, seed), truth


def confused(task: Task, labels: IntArray, seed: int) -> Task:
    """The task Graph-MLP's static training in the published code learns from.

    The first n_t vertices of the whole graph, n_t the size of the training graph, with the edges among them (that code
    takes the powers of the whole adjacency at these vertices); the labels of a random share as large as that of the
    training vertices, of every class. The left-out class is learned under the id of `stand_in`.

    Args:
        task: One class left out; its test graph is the whole one.
        labels: Of all vertices.
        seed: Of the run.
    """
    size = task.train.graph.num_vertices
    graph, _ = induced(task.test, np.arange(task.test.num_vertices) < size)
    mask = generator(seed, "published-batches", task.fold).permutation(task.fit_mask) & (labels[:size] >= 0)
    spare, left_out = stand_in(labels), int(task.fold)
    renamed = np.where(labels == left_out, spare, labels)
    every = np.unique(labels[labels >= 0])
    return replace(
        task,
        train=told(Snapshot(task.train.time, graph, np.where(mask, renamed[:size], -1)), renamed[:size]),
        fit_mask=mask,
        calibration=np.flatnonzero(~mask),
        known=np.where(every == left_out, spare, every),
    )


class KeptOutputs(Head):
    """A head of which some outputs are left.

    Args:
        head: All of it.
        columns: Those that are left.
    """

    def __init__(self, head: Head, columns: IntArray) -> None:
        super().__init__(head.width, len(columns))
        self.head = head
        self.columns = torch.from_numpy(columns)

    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """Those that are left."""
        return self.head.logits(output)[:, self.columns]

    def probabilities(self, logits: torch.Tensor) -> torch.Tensor:
        """As the whole head makes them."""
        return self.head.probabilities(logits)

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Not trained any more."""
        raise NotImplementedError


def known_outputs(model: Model, known: IntArray) -> Model:
    """The model with the outputs of some classes alone, as the published code scores it."""
    columns, head = model.columns(known), model.head
    if isinstance(head, IsoMaxPlus):
        head = copy.deepcopy(head)
        head.prototypes = nn.Parameter(head.prototypes.data[columns])
        head.classes = len(known)
    else:
        head = KeptOutputs(head, columns)
    return Model(model.backbone, head, known)


@detectors.register("known-outputs")
class KnownOutputs(Detector):
    """A detector on the outputs of known classes: without that of the left-out one, which has the largest id.

    Args:
        base: The detector, whose scores must be bounded.
    """

    def __init__(self, base: Detector) -> None:
        self.base = base
        self.heads = base.heads  # type: ignore[misc]
        self.reads_outputs = base.reads_outputs  # type: ignore[misc]

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Fits the wrapped detector."""
        self.base.fit(self._known(model), train, fit_vertices, calibration)

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """In [0, 1]."""
        return self.base.score(self._known(model), graph)

    def _known(self, model: Model) -> Model:
        return known_outputs(model, model.known[model.known < model.known.max()])
