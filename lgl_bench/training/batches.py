"""From a task to the losses of an epoch: the walk is the backbone's own, its contract is held here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import torch

from lgl_bench.backbones import Backbone
from lgl_bench.backbones.walks.training_data import Clock, Epoch, Step, TrainingData
from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Task
from lgl_bench.training.model import Model

Observe: TypeAlias = Callable[[torch.Tensor, torch.Tensor], None]


def training_data(
    model: Model,
    task: Task,
    device: str = "cpu",
    weights: FloatArray | None = None,
    observe: Observe | None = None,
    epochs: int = 1,
) -> TrainingData:
    """What a backbone may learn from in a task: no label but those of the training vertices.

    Args:
        model: Whose columns and loss; only a transductive one gets the graph that will be scored.
        task: What may be learned from.
        device: Where to compute.
        weights: Of the training vertices, ascending; None if all are alike.
        observe: See `TrainingData`; called with the numbers that vertices have in the training graph.
        epochs: Most epochs of the fit.
    """
    fit = np.flatnonzero(task.fit_mask)
    graph, vertices = _graph(model, task, fit)
    columns = np.full(graph.num_vertices, -1, dtype=np.int64)
    columns[vertices] = model.columns(task.train.labels)[fit]
    spread = None
    if weights is not None:
        spread = torch.zeros(len(columns), dtype=torch.float64)
        spread[vertices] = torch.from_numpy(np.array(weights))
    if observe is not None and graph is not task.train.graph:
        observe = _numbered(observe, vertices, fit, graph.num_vertices)
    return TrainingData(
        graph,
        torch.from_numpy(np.array(vertices)),
        torch.from_numpy(columns),
        model.head.loss,
        device,
        spread,
        observe,
        model.head.logits,
        clock=Clock(epochs),
    )


def _graph(model: Model, task: Task, fit: IntArray) -> tuple[Graph, IntArray]:
    """The graph that is trained on, and the training vertices in it."""
    if model.track != "transductive":
        return task.train.graph, fit
    if task.trained is None:
        raise PluginError(
            "a transductive method has to know where the training vertices are in the test graph, and the protocol "
            "does not set Task.trained"
        )
    return task.test, task.trained


def _numbered(observe: Observe, vertices: IntArray, fit: IntArray, count: int) -> Observe:
    """Tells of vertices of the test graph by the numbers they have in the training graph: strategies know no others."""
    number = torch.full((count,), -1, dtype=torch.int64)
    number[torch.from_numpy(np.array(vertices))] = torch.from_numpy(fit)
    return lambda output, seen: observe(output, number[seen])


def walk(backbone: Backbone, data: TrainingData) -> Epoch:
    """The walk of a backbone; what it yields is checked.

    Raises:
        PluginError: `batches` returns no function, a loss is not one number with a gradient, or the walk does not ask
            for what the head adds to it.
    """
    name = type(backbone).__name__
    asked = data.graph_loss is None
    if data.graph_loss is not None:
        added = data.graph_loss

        def graph_loss(step: Step) -> torch.Tensor:
            nonlocal asked
            asked = True
            return added(step)

        data = replace(data, graph_loss=graph_loss)
    epoch = backbone.batches(data)
    if not callable(epoch):
        raise PluginError(
            f"batches of the backbone {name} returned {type(epoch).__name__}; it must return a function that yields "
            "the losses of one epoch each time it is called"
        )

    def losses() -> Iterator[torch.Tensor]:
        for loss in epoch():
            if not isinstance(loss, torch.Tensor) or loss.ndim or not loss.requires_grad:
                what = f"shape {tuple(loss.shape)}" if isinstance(loss, torch.Tensor) else type(loss).__name__
                raise PluginError(
                    f"the walk of the backbone {name} yielded {what}; each step must yield its loss, one number with "
                    "a gradient, such as data.loss(output, vertices)"
                )
            if not asked:
                raise PluginError(
                    f"the head adds a loss over the whole graph, and the walk of the backbone {name} does not ask for "
                    "it: add data.added(embeddings, output) to the loss of a step on the whole graph"
                )
            yield loss

    return losses
