"""From a task to the losses of an epoch: the walk is the backbone's own, its contract is held here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

from lgl_bench.backbones import Backbone
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import FloatArray, Task
from lgl_bench.training.model import Model


def training_data(
    model: Model,
    task: Task,
    device: str = "cpu",
    weights: FloatArray | None = None,
    observe: Callable[[torch.Tensor, torch.Tensor], None] | None = None,
) -> TrainingData:
    """What a backbone may learn from in a task: no label but those of the training vertices.

    Args:
        model: Whose columns and loss.
        task: What may be learned from.
        device: Where to compute.
        weights: Of the training vertices, ascending; None if all are alike.
        observe: See `TrainingData`.
    """
    columns = np.where(task.fit_mask, model.columns(task.train.labels), -1)
    vertices = np.flatnonzero(task.fit_mask)
    spread = None
    if weights is not None:
        spread = torch.zeros(len(columns), dtype=torch.float64)
        spread[vertices] = torch.from_numpy(np.array(weights))
    return TrainingData(
        task.train.graph,
        torch.from_numpy(vertices),
        torch.from_numpy(columns),
        model.head.loss,
        device,
        spread,
        observe,
    )


def walk(backbone: Backbone, data: TrainingData) -> Epoch:
    """The walk of a backbone; what it yields is checked.

    Raises:
        PluginError: `batches` returns no function, or a loss is not one number with a gradient.
    """
    name = type(backbone).__name__
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
            yield loss

    return losses
