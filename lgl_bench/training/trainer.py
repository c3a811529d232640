"""Fitting a model to a task: Adam, no weight decay unless a backbone asks for it, deterministic under a seed.

A fit that diverges ends with a status and a reason; it never crashes a run and never becomes a row.
"""

from __future__ import annotations

import contextlib
import numbers
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from lgl_bench.core.errors import PluginError
from lgl_bench.core.seeds import derive
from lgl_bench.core.types import FloatArray, Task, TrainingParameters
from lgl_bench.strategies import StepOutputs, Strategy
from lgl_bench.training.batches import training_data, walk
from lgl_bench.training.model import Model
from lgl_bench.training.optimiser import Optimiser


@dataclass(frozen=True, slots=True)
class Fit:
    """What became of a fit."""

    status: Literal["ok", "diverged"]
    reason: str
    epochs: int
    loss: float
    seconds: float


@contextlib.contextmanager
def seeded(seed: int, *axes: str | int) -> Iterator[None]:
    """Random numbers of torch from a seed of these axes; its own state comes back after."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, *axes))
        yield


@dataclass(frozen=True, slots=True)
class Loss:
    """What a strategy makes of the loss.

    Attributes:
        strategy: Whose hooks are called in every step; None for none.
        weights: Of the training vertices, ascending, with a mean of 1; None if all are alike.
    """

    strategy: Strategy | None = None
    weights: FloatArray | None = None

    @property
    def penalises(self) -> bool:
        """Whether something is added to the loss."""
        return self.strategy is not None and type(self.strategy).penalty is not Strategy.penalty

    def penalty(self, model: Model, outputs: StepOutputs) -> torch.Tensor | float:
        """What is added to the loss of a step.

        Raises:
            PluginError: The strategy returned something else than a number.
        """
        found = 0.0 if self.strategy is None else self.strategy.penalty(model, outputs)
        if isinstance(found, torch.Tensor) and found.ndim == 0:
            return found
        if isinstance(found, numbers.Real):
            return float(found)
        what = f"shape {tuple(found.shape)}" if isinstance(found, torch.Tensor) else type(found).__name__
        raise PluginError(f"penalty of a strategy returned {what}; it must be one number, with a gradient or without")


_PLAIN = Loss()


def train(
    model: Model,
    task: Task,
    parameters: TrainingParameters,
    seed: int,
    on_epoch: Callable[[int, float], None] | None = None,
    device: str = "cpu",
    added: Loss = _PLAIN,
) -> Fit:
    """Fits a model to a task; the model comes back to the CPU, where it is scored.

    Args:
        model: Fresh, or grown from the year before.
        task: What may be learned from.
        parameters: Epochs, learning rate and limits.
        seed: Of the run; the task's time and fold are mixed in.
        on_epoch: Called with the number of each epoch and its loss; raising stops the fit.
        device: Where to compute.
        added: What a strategy makes of the loss.

    Returns:
        What became of it; without a training vertex the weights stay as they are, after no epoch.
    """
    start = time.perf_counter()
    value, epoch, steps = float("nan"), 0, 0
    with seeded(seed, "train", task.time, task.fold):
        model.to(device)
        seen = _Seen(model) if added.penalises else None
        data = training_data(model, task, device, added.weights, seen, _most_epochs(parameters))
        if not len(data.vertices):
            return _end("ok", "", 0, 0.0, start, model)
        model.head.begin(data.labels[data.vertices].to(device))
        losses_of_epoch = walk(model.backbone, replace(data, graph_loss=model.head.graph_loss(data)))
        optimiser = Optimiser(model, parameters.lr, data.clock.epochs)
        for epoch in range(1, parameters.epochs + 1):
            model.train()
            data.clock.epoch = epoch
            for loss in losses_of_epoch():
                steps += 1
                if seen is not None:
                    loss = loss + added.penalty(model, seen.take())
                value = float(loss.detach())
                if not np.isfinite(value):
                    return _end("diverged", f"the loss was {value} in epoch {epoch}", epoch, value, start, model)
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                if added.strategy is not None:
                    added.strategy.after_backward(model)
                optimiser.step(epoch)
                if steps == parameters.steps:
                    break
            if on_epoch is not None:
                on_epoch(epoch, value)
            if steps == parameters.steps:
                break
    if not all(bool(torch.isfinite(weight).all()) for weight in model.parameters()):
        return _end("diverged", "a weight is no longer finite", epoch, value, start, model)
    return _end("ok", "", epoch, value, start, model)


def _most_epochs(parameters: TrainingParameters) -> int:
    """An epoch has at least one step."""
    return min(parameters.epochs, parameters.steps or parameters.epochs)


class _Seen:
    """The outputs of a step, as the walk of the backbone asked for their loss."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._parts: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __call__(self, output: torch.Tensor, vertices: torch.Tensor) -> None:
        self._parts.append((output, vertices))

    def take(self) -> StepOutputs:
        """What was seen since the last time."""
        parts, self._parts = self._parts, []
        if not parts:
            return StepOutputs(torch.empty(0, dtype=torch.int64), torch.empty(0, len(self._model.known)))
        outputs, vertices = zip(*parts, strict=True)
        return StepOutputs(torch.cat(vertices), self._model.head.logits(torch.cat(outputs)))


def _end(status: Literal["ok", "diverged"], reason: str, epoch: int, loss: float, start: float, model: Model) -> Fit:
    model.eval()
    model.to("cpu")
    model.forget()
    return Fit(status, reason, epoch, loss, time.perf_counter() - start)
