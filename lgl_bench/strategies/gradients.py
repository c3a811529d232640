"""Losses on the whole training graph, and their gradients, beside what a step computes itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from lgl_bench.backbones.layers.inputs import Inputs, inputs_of
from lgl_bench.core.types import Graph, IntArray, Snapshot
from lgl_bench.strategies.contract import Learner


def device_of(model: Learner) -> torch.device:
    """Where the model is."""
    return next(weight.device for _, weight in model.named_parameters())


def whole_graph(model: Learner, graph: Graph) -> Inputs:
    """A graph as the model reads it, where the model is."""
    return inputs_of(graph).to(str(device_of(model)))


def mean_loss(model: Learner, train: Snapshot, vertices: IntArray) -> torch.Tensor:
    """Mean loss of the head over some vertices, computed on the whole graph, with gradients, in the model's mode.

    Terms of a backbone's own, such as the contrastive one of Graph-MLP, are no part of it.

    Args:
        model: With or without dropout, as its mode says.
        train: Its labels of `vertices` must be on offer.
        vertices: At least one.
    """
    return head_loss(model, model.backbone(whole_graph(model, train.graph))[1], train, vertices)


def head_loss(model: Learner, output: torch.Tensor, train: Snapshot, vertices: IntArray) -> torch.Tensor:
    """Mean loss of the head over some vertices, from what the backbone returns for all."""
    columns = torch.from_numpy(model.columns(train.labels[vertices])).to(output.device)
    loss: torch.Tensor = model.head.loss(output[torch.from_numpy(vertices).to(output.device)], columns)
    return loss


def gradients(
    model: Learner, value: torch.Tensor, create_graph: bool = False, retain_graph: bool = False
) -> dict[str, torch.Tensor]:
    """Gradient of a value by the name of each weight; zeros if it does not depend on it. No `.grad` is touched.

    Args:
        model: Whose weights.
        value: One number.
        create_graph: Whether the gradient is itself to be differentiated.
        retain_graph: Whether `value` is to be differentiated again.
    """
    named = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
    if not value.requires_grad:
        return {name: torch.zeros_like(weight) for name, weight in named.items()}
    found = torch.autograd.grad(
        value,
        list(named.values()),
        create_graph=create_graph,
        retain_graph=retain_graph or create_graph,
        allow_unused=True,
    )
    return {
        name: torch.zeros_like(weight) if one is None else one
        for (name, weight), one in zip(named.items(), found, strict=True)
    }


@contextlib.contextmanager
def statistics_kept(model: Learner) -> Iterator[None]:
    """Running statistics of batch normalisation stay as they are inside: a pass beside the step is no training."""
    norms = [
        layer
        for part in (model.backbone, model.head)
        for layer in part.modules()
        if isinstance(layer, _BatchNorm) and layer.track_running_stats
    ]
    for layer in norms:
        layer.track_running_stats = False
    try:
        yield
    finally:
        for layer in norms:
            layer.track_running_stats = True
