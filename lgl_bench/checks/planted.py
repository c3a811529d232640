"""A small stream with a class that is plainly new, and models trained on it: what the checks run on."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from lgl_bench.core.seeds import member_seed
from lgl_bench.core.types import BoolArray, Graph, IntArray, Snapshot, Task, TrainingParameters, Truth
from lgl_bench.detectors import Calibration
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.stream import Stream, StreamInfo, reorder
from lgl_bench.training.ensemble import EnsembleModel
from lgl_bench.training.model import Model, build_model
from lgl_bench.training.trainer import seeded, train

TRAINING = TrainingParameters(epochs=60, lr=0.02)
SMALL = {"hidden": 32, "layers": 2, "dropout": 0.3}
_SIZES: dict[str, dict[str, float]] = {
    **dict.fromkeys(("gcn", "graphsage", "graph-mlp", "mlp"), SMALL),
    "gat": {"dropout": 0.3},  # hidden is the width of each of its heads
}


def static_stream() -> Stream:
    """One time step, four classes, some isolated vertices, a public split."""
    recipe = Recipe(
        times=(0,), growth=(330,), births=(4,), birth_size=30, isolated=0.1, signal=0.8, features=24, split=True, seed=7
    )
    return generate(recipe, StreamInfo("planted"))


def temporal_stream() -> Stream:
    """Five years; a class is born in the third and one in the fifth; some vertices have no label."""
    recipe = Recipe(
        times=(2000, 2001, 2002, 2004, 2005),
        growth=(60, 40, 40, 40, 40),
        births=(3, 0, 1, 0, 1),
        birth_size=12,
        isolated=0.1,
        signal=0.8,
        features=24,
        seed=8,
    )
    stream = generate(recipe, StreamInfo("planted-years", t0=2001))
    labels = stream.labels.copy()
    labels[::17] = -1
    return replace(stream, labels=labels)


@dataclass(frozen=True, slots=True)
class Bench:
    """A trained model and its task."""

    model: Model
    task: Task
    truth: Truth
    calibration: Calibration

    @property
    def fit_vertices(self) -> IntArray:
        """Vertices of the loss."""
        return np.flatnonzero(self.task.fit_mask)

    @property
    def new(self) -> BoolArray:
        """Which of the scored vertices are new."""
        return ~np.isin(self.truth.labels, self.task.known)


def bench(head: str, backbone: str = "gcn", members: int = 1) -> Bench:
    """A small model with that head, or several, trained without one of the four classes.

    Every call returns a copy of its own: a plugin that changes what it is given must not spoil the next check.
    """
    return copy.deepcopy(_trained(head, backbone, members))


@cache
def _trained(head: str, backbone: str, members: int) -> Bench:
    task, truth = list(LeaveClassOut().tasks(static_stream(), 0))[-1]
    models = [_member(head, backbone, task, member_seed(0, number)) for number in range(members)]
    model = models[0] if members == 1 else EnsembleModel(models)
    fit = np.flatnonzero(task.fit_mask)
    assert task.calibration is not None
    calibration = Calibration(model, task.train, fit, task.train.graph, task.calibration, trained=fit)
    return Bench(model, task, truth, calibration)


def _member(head: str, backbone: str, task: Task, seed: int) -> Model:
    with seeded(seed, "check"):
        model = build_model(
            backbone, head, task.train.graph.features.shape[1], task.known, backbone_parameters(backbone)
        )
    train(model, task, TRAINING, seed=seed)
    return model


def backbone_parameters(name: str) -> dict[str, float]:
    """Small sizes; a backbone of somebody's own has its defaults."""
    return dict(_SIZES.get(name, {}))


def renumbered(graph: Graph, order: IntArray) -> Graph:
    """The same graph with vertex `order[i]` as vertex i."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Graph(reorder(graph.features, order), place[graph.edges], graph.num_vertices, graph.born[order])


def without_edges(graph: Graph) -> Graph:
    """The same vertices, every one isolated."""
    return Graph(graph.features, graph.edges[:, :0], graph.num_vertices, graph.born)


def full_labels(item: Bench, seed: int) -> Snapshot:
    """The training snapshot, its labels outside the loss filled with what may not be learned from."""
    rng = np.random.default_rng(seed)
    labels = item.task.train.labels.copy()
    hidden = ~item.task.fit_mask
    labels[hidden] = rng.choice(item.task.known, int(hidden.sum()))
    return replace(item.task.train, labels=labels)
