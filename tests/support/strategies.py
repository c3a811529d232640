"""Strategies on small graphs: what is offered is made from arrays, and a fit is a few steps with the hooks in order."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import nn

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.types import Graph, IntArray, Snapshot, Task, TrainingParameters
from lgl_bench.heads import heads
from lgl_bench.strategies import EMPTY, FitTask, Memory, StepOutputs, Strategy
from lgl_bench.training.model import Model, build_model
from tests.support.graphs import graph, random_graph, to_sparse


def fit_task(g: Graph, labels, new, remembered=(), recent=None, known=None, positions=None, time=1) -> FitTask:
    """What is offered: the labels of new and of remembered vertices; the recent ones are the new ones unless given."""
    flags = {name: np.zeros(g.num_vertices, dtype=bool) for name in ("new", "recent", "remembered")}
    for name, vertices in (("new", new), ("remembered", remembered), ("recent", new if recent is None else recent)):
        flags[name][np.asarray(vertices, dtype=np.int64)] = True
    labels = np.asarray(labels, dtype=np.int64)
    offered = np.where(flags["new"] | flags["remembered"], labels, -1)
    known = np.unique(labels[labels >= 0]) if known is None else np.asarray(known)
    where = np.arange(g.num_vertices) if positions is None else np.asarray(positions)
    none = np.empty(0, dtype=np.int64)
    task = Task(time, "test", "", Snapshot(time - 1, g, offered), offered >= 0, none, g, none, known)
    return FitTask(task, positions=where, **flags)


def two_years(n: int = 16, columns: int = 6, sparse: bool = False, edges: int = 30) -> tuple[FitTask, FitTask]:
    """A year with the classes 3 and 5, and one with the new class 4 among others, on a grown graph."""
    g = random_graph(n, columns, edges)
    if sparse:  # few enough values to be computed with as such
        g = replace(g, features=to_sparse(np.where(g.features < 0.88, 0, g.features)))
    half = n // 2
    labels = np.array([3, 5] * (half // 2) + [4, 3, 5, 4] * (half // 4))
    first = _until(g, half)
    early = fit_task(first, labels[:half], range(half), known=[3, 5], time=1)
    return early, fit_task(g, labels, range(half, n), known=[3, 5, 4], time=2)


def _until(g: Graph, n: int) -> Graph:
    features = g.features.rows(0, n) if not isinstance(g.features, np.ndarray) else g.features[:n]
    return Graph(features, g.edges[:, (g.edges < n).all(axis=0)], n, g.born[:n])


def small_model(task: FitTask, backbone: str = "gcn", head: str = "softmax", seed: int = 0, **parameters) -> Model:
    """A fresh model for a task; few hidden units and no dropout unless asked for."""
    torch.manual_seed(seed)
    parameters = {"hidden": 5, "dropout": 0.0, **({"attn_dropout": 0.0} if backbone == "gat" else {}), **parameters}
    return build_model(backbone, head, task.train.graph.features.shape[1], task.known, parameters)


@dataclass
class Fitted:
    """A trained model, and what its strategy left."""

    model: Model
    memory: Memory
    losses: list[float] = field(default_factory=list)


def fit(
    strategy: Strategy,
    task: FitTask,
    model: Model,
    memory: Memory = EMPTY,
    previous: Model | None = None,
    steps: int = 5,
    lr: float = 0.01,
    seed: int = 0,
) -> Fitted:
    """The hooks of a strategy in their order, around a few steps of Adam on the whole graph."""
    view = strategy.select(task, memory, seed)
    strategy.training(TrainingParameters(), previous is not None, memory)
    torch.manual_seed(seed)
    vertices, losses = torch.from_numpy(view.vertices), []
    if len(vertices):
        columns = torch.from_numpy(model.columns(task.train.labels[view.vertices]))
        weights = torch.ones(len(vertices)) if view.weights is None else torch.from_numpy(view.weights).float()
        model.head.begin(columns)
        strategy.begin(model, previous, memory)
        optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        model.train()
        for _ in range(steps):
            _, output = model.backbone(inputs_of(task.train.graph))
            each = [model.head.loss(output[[v]], columns[[i]]) for i, v in enumerate(vertices.tolist())]
            step = StepOutputs(vertices, model.head.logits(output[vertices]))
            loss = (torch.stack(each) * weights / weights.mean()).mean() + strategy.penalty(model, step)
            losses.append(float(loss.detach()))
            optimizer.zero_grad()
            loss.backward()
            strategy.after_backward(model)
            optimizer.step()
    model.eval()
    model.forget()
    return Fitted(model, strategy.end(model, task, memory), losses)


def go_on(task: FitTask, fitted: Fitted, strategy: Strategy, **options) -> Fitted:
    """The next year: the model grown from the year before, with what was left."""
    model = grown(fitted.model, task)
    return fit(strategy, remembering(task, fitted.memory), model, fitted.memory, fitted.model, **options)


def grown(model: Model, task: FitTask) -> Model:
    """A copy of a model with room for the classes of a task."""
    again = copy.deepcopy(model)
    torch.manual_seed(1)
    again.grow(task.known)
    return again


def remembering(task: FitTask, memory: Memory) -> FitTask:
    """The same task with the labels of a memory on offer."""
    places = np.flatnonzero(np.isin(task.positions, memory.vertices))
    labels = task.train.labels.copy()
    old = places[~task.new[places]]
    labels[old] = memory.labels[np.searchsorted(memory.vertices, task.positions[old])]
    new, recent = np.flatnonzero(task.new), np.flatnonzero(task.recent)
    return fit_task(task.train.graph, labels, new, places, recent, task.known, task.positions, task.task.time)


def weights_of(model: Model) -> dict[str, torch.Tensor]:
    """The weights as they are now."""
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def no_edges(features: np.ndarray) -> Graph:
    """A graph of vertices alone."""
    return graph([], np.asarray(features, dtype=np.float32))


def offered(g: Graph, labels: IntArray, born: IntArray, year: int, memory: Memory, graph: str = "all") -> FitTask:
    """What a year of a stream offers: its own labels and those in memory; vertices are sorted by birth.

    With `graph="kept"` old vertices that are not in memory are gone, and so are arcs that memory does not have.
    """
    inside = born <= year if graph == "all" else (born == year) | np.isin(np.arange(len(born)), memory.vertices)
    inside &= born <= year
    where = np.flatnonzero(inside)
    arcs = g.edges[:, inside[g.edges].all(axis=0)]
    if graph == "kept" and memory.edges is not None:
        arcs = np.concatenate([arcs[:, (born[arcs] == year).any(axis=0)], memory.edges], axis=1)
    cut = Graph(g.features[where], np.searchsorted(where, arcs), len(where), born[where])
    new = np.flatnonzero((born[where] == year) & (labels[where] >= 0))
    recent = np.flatnonzero(born[where] == year)
    shown = np.where(born[where] == year, labels[where], -1)
    known = np.unique(labels[(born <= year) & (labels >= 0)])
    return remembering(fit_task(cut, shown, new, (), recent, known, where, time=year + 1), memory)


class Line(nn.Module):
    """The smallest backbone: x W, read as output and as embedding."""

    def __init__(self, weight) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weight, dtype=torch.float32))

    def forward(self, inputs):
        output = inputs.features @ self.weight
        return output, output

    def attention_logits(self, inputs):
        return []


def line_model(weight) -> Model:
    """x W with a softmax, its outputs being the classes 0, 1, ...; for numbers that are worked by hand."""
    columns = len(weight[0])
    return Model(Line(weight), heads.get("softmax")(columns, columns), np.arange(columns)).eval()
