"""What every backbone must keep."""

from __future__ import annotations

import numpy as np
import torch

from lgl_bench.backbones import backbones
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.checks.failure import require
from lgl_bench.checks.leaks import learns_from_no_other_label, learns_nothing_of_the_test_graph
from lgl_bench.checks.planted import SMALL, Bench, backbone_parameters, bench, renumbered, without_edges
from lgl_bench.core.types import Graph, TrainingParameters
from lgl_bench.metrics.classification import accuracy
from lgl_bench.plans.paper_presets import taken
from lgl_bench.training.batches import training_data, walk
from lgl_bench.training.model import Model, build_model
from lgl_bench.training.trainer import seeded, train

_FEW = TrainingParameters(epochs=3, lr=0.02)


def returns_logits_for_exactly_the_known_classes(name: str) -> None:
    """(n, known classes), finite, for its own head and both kinds of others."""
    for head in dict.fromkeys((backbones.get(name).own_head, "softmax", "isomax+")):
        item = bench(head, name)
        for graph in (item.task.train.graph, item.task.test):
            logits = item.model.outputs(graph).logits
            expected = (graph.num_vertices, len(item.task.known))
            require(tuple(logits.shape) == expected, f"logits have shape {tuple(logits.shape)}, not {expected}")
            require(torch.isfinite(logits).all(), "logits are not finite")


def follows_a_renumbering_of_the_vertices(name: str) -> None:
    """Outputs belong to vertices, not to their numbers."""
    item = _bench(name)
    graph = item.task.test
    order = np.random.default_rng(0).permutation(graph.num_vertices)
    moved, still = _logits(item.model, renumbered(graph, order)), _logits(item.model, graph)
    found = float((moved - still[torch.from_numpy(order)]).abs().max())
    require(found < 1e-3, f"after renumbering the vertices logits differ by up to {found:.3g}")


def works_without_edges(name: str) -> None:
    """Isolated vertices and an empty edge set."""
    item = _bench(name)
    require(torch.isfinite(_logits(item.model, without_edges(item.task.test))).all(), "logits are not finite")


def keeps_old_logits_when_classes_are_added(name: str) -> None:
    """Growing appends outputs and leaves the others alone."""
    item = _bench(name)
    model = _fresh(name, item)
    before = _logits(model, item.task.test)
    known = np.append(item.task.known, item.task.known.max() + np.array([5, 6]))
    with seeded(0, "grow"):
        model.grow(known)
    after = _logits(model, item.task.test)
    require(after.shape[1] == len(known), f"{after.shape[1]} logits after growing to {len(known)} classes")
    found = float((after[:, : before.shape[1]] - before).abs().max())
    require(found < 1e-5, f"growing changed logits of classes known before by up to {found:.3g}")


def beats_the_majority_class(name: str) -> None:
    """Accuracy well above that of always answering the most frequent class."""
    item = _bench(name)
    found = accuracy(item.truth.labels, item.model.predict(item.task.test)[item.task.scored], item.task.known).value
    known = item.truth.labels[~item.new]
    majority = float(np.bincount(known).max() / len(known))
    require(
        found is not None and found > majority + 0.1,
        f"accuracy {found:.3f}; always answering the most frequent class has {majority:.3f}",
    )


def takes_the_sizes_of_a_preset(name: str) -> None:
    """`hidden`, `layers` and `dropout`: a preset sets them, of a built-in backbone those that it takes."""
    item = _bench(name)
    sizes = taken(name, SMALL)
    found = _logits(_fresh(name, item, sizes), item.task.test)
    require(torch.isfinite(found).all(), f"logits are not finite with {sizes}")


def walks_anew_in_every_epoch(name: str) -> None:
    """Two epochs of one walk have losses each."""
    item = _bench(name)
    model = _fresh(name, item).train()
    with seeded(0, "walk"):
        epoch = walk(model.backbone, training_data(model, item.task))
        steps = [sum(1 for _ in epoch()) for _ in range(2)]
    require(all(steps), f"two epochs had {steps[0]} and {steps[1]} steps; the walk must begin anew in each")


def trains_the_same_under_the_same_seed(name: str) -> None:
    """Bit for bit."""
    item = _bench(name)
    weights = []
    for _ in range(2):
        model = _fresh(name, item)
        train(model, item.task, _FEW, seed=1)
        weights.append(torch.cat([parameter.detach().flatten() for parameter in model.parameters()]))
    require(torch.equal(*weights), "two fits under the same seed gave different weights")


def trains_on_no_label_it_may_not_learn_from(name: str) -> None:
    """Labels outside the loss make no difference."""
    learns_from_no_other_label(backbones.get(name).own_head, name)


def trains_without_the_test_graph(name: str) -> None:
    """Nothing of it makes a difference, unless the track is transductive."""
    learns_nothing_of_the_test_graph(backbones.get(name).own_head, name)


CHECKS = (
    returns_logits_for_exactly_the_known_classes,
    follows_a_renumbering_of_the_vertices,
    works_without_edges,
    keeps_old_logits_when_classes_are_added,
    beats_the_majority_class,
    takes_the_sizes_of_a_preset,
    walks_anew_in_every_epoch,
    trains_the_same_under_the_same_seed,
    trains_on_no_label_it_may_not_learn_from,
    trains_without_the_test_graph,
)


def _bench(name: str) -> Bench:
    return bench(backbones.get(name).own_head, name)


def _fresh(name: str, item: Bench, sizes: dict[str, float] | None = None) -> Model:
    features = item.task.train.graph.features.shape[1]
    with seeded(0, "fresh"):
        return build_model(
            name, backbones.get(name).own_head, features, item.task.known, sizes or backbone_parameters(name)
        )


def _logits(model: Model, graph: Graph) -> torch.Tensor:
    model.eval()
    with torch.no_grad():
        return model.head.logits(model.backbone(inputs_of(graph))[1])
