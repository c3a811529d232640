"""Fitting a model to a task: Adam, no weight decay, deterministic under a seed on one machine.

A fit that diverges ends with a status and a reason; it never crashes a run and never becomes a row.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from lgl_bench.backbones.inputs import inputs_of
from lgl_bench.core.errors import UsageError
from lgl_bench.core.seeds import derive
from lgl_bench.core.types import IntArray, Task
from lgl_bench.training.batches import batches_of
from lgl_bench.training.model import Model


@dataclass(frozen=True, slots=True)
class TrainingParameters:
    """How a model is fitted.

    Attributes:
        epochs: Walks over the training vertices.
        lr: Learning rate of Adam.
        steps: Most steps of the optimiser, in the middle of an epoch too; None for no limit.
        warm_steps: The same for a model that goes on from weights of an earlier year.
        patience: Stop after so many epochs without a better accuracy on held-out vertices of known classes, and
            go back to the best weights; None trains all epochs. Never used for ranked rows.
    """

    epochs: int = 200
    lr: float = 0.01
    steps: int | None = None
    warm_steps: int | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.epochs < 1 or not 0 < self.lr <= 1e30:
            raise UsageError(f"epochs = {self.epochs}, lr = {self.lr}: both must be positive and finite")
        for name, steps in (("steps", self.steps), ("warm_steps", self.warm_steps)):
            if steps is not None and steps < 1:
                raise UsageError(f"{name} = {steps}: it must be at least 1")
        if self.patience is not None and self.patience < 1:
            raise UsageError(f"patience = {self.patience}: it must be at least 1")

    def continued(self) -> TrainingParameters:
        """Those of a fit that goes on from weights of an earlier year."""
        return replace(self, steps=self.warm_steps)


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


def train(
    model: Model,
    task: Task,
    parameters: TrainingParameters,
    seed: int,
    on_epoch: Callable[[int, float], None] | None = None,
    device: str = "cpu",
) -> Fit:
    """Fits a model to a task; the model comes back to the CPU, where it is scored.

    Args:
        model: Fresh, or grown from the year before.
        task: What may be learned from.
        parameters: Epochs and learning rate.
        seed: Of the run; the task's time and fold are mixed in.
        on_epoch: Called with the number of each epoch and its loss; raising stops the fit.
        device: Where to compute.
    """
    start = time.perf_counter()
    fit_vertices = np.flatnonzero(task.fit_mask)
    columns = model.columns(task.train.labels)
    held_out = _held_out(task, columns) if parameters.patience is not None else None
    best: tuple[float, int, dict[str, torch.Tensor]] = (-1.0, 0, {})
    value, epoch = float("nan"), 0
    with seeded(seed, "train", task.time, task.fold):
        model.to(device)
        model.head.begin(torch.from_numpy(columns[fit_vertices]).to(device))
        batches = batches_of(model, task, fit_vertices, torch.from_numpy(columns), device)
        optimizer = torch.optim.Adam(model.parameters(), lr=parameters.lr, fused=True)
        steps = 0
        for epoch in range(1, parameters.epochs + 1):
            model.train()
            for loss in batches.losses():
                steps += 1
                value = float(loss.detach())
                if not np.isfinite(value):
                    return _end("diverged", f"the loss was {value} in epoch {epoch}", epoch, value, start, model)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                if steps == parameters.steps:
                    break
            if on_epoch is not None:
                on_epoch(epoch, value)
            if steps == parameters.steps:
                break
            if held_out is not None:
                best = _better(model, task, held_out, columns, epoch, best)
                if epoch - best[1] >= (parameters.patience or 0):
                    break
    if best[2]:
        model.load_state_dict(best[2])
    if not all(bool(torch.isfinite(weight).all()) for weight in model.parameters()):
        return _end("diverged", "a weight is no longer finite", epoch, value, start, model)
    return _end("ok", "", epoch, value, start, model)


def _end(status: Literal["ok", "diverged"], reason: str, epoch: int, loss: float, start: float, model: Model) -> Fit:
    model.eval()
    model.to("cpu")
    model.forget()
    return Fit(status, reason, epoch, loss, time.perf_counter() - start)


def _held_out(task: Task, columns: IntArray) -> IntArray:
    if task.calibration is None:
        raise UsageError("early stopping needs held-out vertices, which this protocol does not set apart")
    return task.calibration[columns[task.calibration] >= 0]


def _better(
    model: Model,
    task: Task,
    held_out: IntArray,
    columns: IntArray,
    epoch: int,
    best: tuple[float, int, dict[str, torch.Tensor]],
) -> tuple[float, int, dict[str, torch.Tensor]]:
    model.eval()
    with torch.no_grad():
        device = next(model.parameters()).device.type
        predicted = model(inputs_of(task.train.graph).to(device)).logits.argmax(dim=1).cpu().numpy()
    accuracy = float((predicted[held_out] == columns[held_out]).mean()) if len(held_out) else 0.0
    if accuracy <= best[0]:
        return best
    return accuracy, epoch, {name: value.clone() for name, value in model.state_dict().items()}
