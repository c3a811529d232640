"""Fitting a model to a task: Adam, no weight decay, deterministic under a seed on one machine.

A fit that diverges ends with a status and a reason; it never crashes a run and never becomes a row.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from lgl_bench.core.seeds import derive
from lgl_bench.core.types import Task, TrainingParameters
from lgl_bench.training.batches import training_data, walk
from lgl_bench.training.model import Model


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
        parameters: Epochs, learning rate and limits.
        seed: Of the run; the task's time and fold are mixed in.
        on_epoch: Called with the number of each epoch and its loss; raising stops the fit.
        device: Where to compute.
    """
    start = time.perf_counter()
    value, epoch, steps = float("nan"), 0, 0
    with seeded(seed, "train", task.time, task.fold):
        model.to(device)
        data = training_data(model, task, device)
        model.head.begin(data.labels[data.vertices].to(device))
        losses_of_epoch = walk(model.backbone, data)
        optimizer = torch.optim.Adam(model.parameters(), lr=parameters.lr, fused=True)
        for epoch in range(1, parameters.epochs + 1):
            model.train()
            for loss in losses_of_epoch():
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
    if not all(bool(torch.isfinite(weight).all()) for weight in model.parameters()):
        return _end("diverged", "a weight is no longer finite", epoch, value, start, model)
    return _end("ok", "", epoch, value, start, model)


def _end(status: Literal["ok", "diverged"], reason: str, epoch: int, loss: float, start: float, model: Model) -> Fit:
    model.eval()
    model.to("cpu")
    model.forget()
    return Fit(status, reason, epoch, loss, time.perf_counter() - start)
