"""Three things the published code does differently that no preset can express, for the parity report alone.

None of them is registered, so no suite and no board can name them. They are written anew from what that code does
(Open-World-LGL, Hoffmann et al. 2023), on top of our backbones, heads and training:

- `PublishedOdin`: x~ = (x + eps * sign(gradient of the sum of all logits)) * x, arcs left alone.
- `confused`: Graph-MLP's static batches. Positions 0, ..., n_t - 1 of the n_t vertices of the training graph are used
  as vertex numbers of the whole graph, and the training mask is shuffled on the way. So the first n_t vertices of the
  whole graph are learned from, test vertices and the left-out class among them, with the labels of a random share.
- gDOC with the weights the paper prints, an option of our head.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from lgl_bench.backbones.graph_mlp import GraphMLP
from lgl_bench.backbones.inputs import inputs_of
from lgl_bench.backbones.projection import Projection
from lgl_bench.backbones.sparse import SparseMatrix
from lgl_bench.core.expressions import Expression, build
from lgl_bench.core.seeds import generator
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot, Task, Truth
from lgl_bench.detectors import Calibration, Detector, checked, detectors
from lgl_bench.detectors.good import Good
from lgl_bench.detectors.msp import msp
from lgl_bench.heads.isomax import IsoMaxPlus
from lgl_bench.protocols import Protocol
from lgl_bench.protocols.subgraph import induced
from lgl_bench.runs.answers import TaskAnswers, why_not
from lgl_bench.runs.scoring import Method
from lgl_bench.streams.stream import Stream
from lgl_bench.training.model import Model, build_model
from lgl_bench.training.trainer import seeded, train


def published_step(x: torch.Tensor, gradient: torch.Tensor, eps: float) -> torch.Tensor:
    """(x + eps * sign(gradient)) * x.

    >>> published_step(torch.tensor([1.0, 0.0, 0.5]), torch.tensor([-2.0, 3.0, 3.0]), 0.1).tolist()
    [0.8999999761581421, 0.0, 0.30000001192092896]
    """
    return (x + eps * gradient.sign()) * x


class PublishedOdin(Detector):
    """ODIN as the published code computes it: 1 - max softmax(f~ / T) after its own step.

    Args:
        eps: Size of the step, in units of the features themselves.
        temperature: T, of the scores; the sign of the gradient does not depend on it.
    """

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


def confused(task: Task, labels: IntArray, seed: int) -> Task:
    """The task Graph-MLP's static training in the published code learns from.

    The first n_t vertices of the whole graph, n_t the size of the training graph, with the edges among them (that code
    takes the powers of the whole adjacency at these vertices); the labels of a random share as large as that of the
    training vertices, of every class.

    Args:
        task: One class left out; its test graph is the whole one.
        labels: Of all vertices.
        seed: Of the run.
    """
    size = task.train.graph.num_vertices
    graph, _ = induced(task.test, np.arange(task.test.num_vertices) < size)
    mask = generator(seed, "published-batches", task.fold).permutation(task.fit_mask) & (labels[:size] >= 0)
    seen = np.where(mask, labels[:size], -1)
    every = np.unique(labels[labels >= 0])
    return replace(task, train=Snapshot(task.train.time, graph, seen), fit_mask=mask, calibration=None, known=every)


def known_outputs(model: Model, known: IntArray) -> Model:
    """A copy of a Graph-MLP with the outputs of some classes alone, as the published code scores it."""
    columns = torch.from_numpy(model.columns(known))
    kept = copy.deepcopy(model)
    assert isinstance(kept.backbone, GraphMLP)
    if isinstance(kept.head, IsoMaxPlus):
        kept.head.prototypes = nn.Parameter(kept.head.prototypes.data[columns])
    else:
        last = kept.backbone.projections[-1]
        assert isinstance(last, Projection) and last.bias is not None
        last.weight = nn.Parameter(last.weight.data[:, columns])
        last.bias = nn.Parameter(last.bias.data[columns])
    kept.head.classes = len(known)
    kept.known = known
    return kept


def published_answers(
    stream: Stream, protocol: Protocol, method: Method, seed: int, switch: str
) -> Iterator[tuple[TaskAnswers, Truth]]:
    """Answers with one of the three switches: "odin-step", "weights", "graph-mlp-batches".

    Args:
        stream: A static one.
        protocol: Every task starts afresh.
        method: Its detectors return scores in [0, 1].
        seed: Of the run; weights and training are drawn as ours are.
        switch: Which.
    """
    for task, truth in protocol.tasks(stream, seed):
        learned = confused(task, stream.labels, seed) if switch == "graph-mlp-batches" else task
        skipped = why_not(learned)
        if skipped:
            yield TaskAnswers(task, None, skipped), truth
            continue
        model = _fresh(learned, method, seed, switch)
        fit = train(model, learned, method.preset.training, seed)
        if fit.status != "ok":
            yield TaskAnswers(task, fit, f"{fit.status}: {fit.reason}"), truth
            continue
        # Predicted with the outputs of every class there is, scored with those of the known ones.
        predicted = model.predict(task.test)[task.scored]
        model = known_outputs(model, task.known) if learned is not task else model
        novelty = {str(part): _novelty(part, model, task, seed, switch) for part in method.detectors}
        yield TaskAnswers(task, fit, predicted=predicted, novelty=novelty), truth


def _fresh(task: Task, method: Method, seed: int, switch: str) -> Model:
    graph = task.train.graph
    parameters = dict(method.preset.backbone)
    if switch == "graph-mlp-batches":
        parameters["batch"] = max(2, graph.num_vertices)  # all of them in one batch, as up to 20,000 are there
    head = {"weight": "paper"} if switch == "weights" else None
    with seeded(seed, "weights", task.time, task.fold):
        return build_model(method.backbone, method.head, graph.features.shape[1], task.known, parameters, head)


def _novelty(expression: Expression, model: Model, task: Task, seed: int, switch: str) -> FloatArray:
    detector = _detector(expression, switch)
    fit_vertices = np.flatnonzero(task.fit_mask)
    assert task.calibration is not None
    calibration = Calibration(model, task.train, fit_vertices, task.train.graph, task.calibration, seed=seed)
    detector.fit(model, task.train, fit_vertices, calibration)
    return checked(detector.score(model, task.test), task.test, str(expression))[task.scored]


def _detector(expression: Expression, switch: str) -> Detector:
    parameters = dict(expression.parameters)
    if switch == "odin-step" and expression.name == "odin":
        return PublishedOdin(float(parameters["eps"]), float(parameters["temperature"]))
    if expression.name == "good":
        return Good(_detector(expression.arguments[0], switch), float(parameters["alpha"]))
    found: Detector = build(expression, detectors)
    return found
