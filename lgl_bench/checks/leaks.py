"""What training may not see: held by heads and backbones alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lgl_bench.checks.failure import Exempt, require
from lgl_bench.checks.planted import backbone_parameters, bench, full_labels
from lgl_bench.core.types import Graph, Task, TrainingParameters
from lgl_bench.streams.stream import reorder
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import seeded, train

_FEW = TrainingParameters(epochs=12, lr=0.02)


def learns_from_no_other_label(head: str, backbone: str) -> None:
    """Labels outside the loss make no difference to the weights, bit for bit."""
    item = bench(head, backbone)
    tasks = [replace(item.task, train=full_labels(item, seed)) for seed in (1, 2)]
    require(
        _weights(head, backbone, tasks[0]) == _weights(head, backbone, tasks[1]),
        "changing labels of vertices that are not trained on changed the weights: training peeks at labels",
    )


def learns_nothing_of_the_test_graph(head: str, backbone: str) -> None:
    """Another test graph makes no difference to the weights, unless the track says that it may."""
    item = bench(head, backbone)
    if item.model.track == "transductive":
        raise Exempt("its track is transductive: it is trained on the test graph, and ranked apart")
    other = replace(item.task, test=_other(item.task.test))
    require(
        _weights(head, backbone, item.task) == _weights(head, backbone, other),
        "another test graph changed the weights: training sees the future, which only track = 'transductive' may",
    )


def _weights(head: str, backbone: str, task: Task) -> list[bytes]:
    features = task.train.graph.features.shape[1]
    with seeded(0, "leak"):
        model = build_model(backbone, head, features, task.known, backbone_parameters(backbone))
    train(model, task, _FEW, seed=0)
    return [weight.numpy().tobytes() for weight in model.state_dict().values()]


def _other(graph: Graph) -> Graph:
    """The features of the vertices in another order, and half of the edges."""
    order = np.random.default_rng(0).permutation(graph.num_vertices)
    half = graph.edges.shape[1] // 4 * 2
    return Graph(reorder(graph.features, order), graph.edges[:, :half], graph.num_vertices, graph.born)
