"""One year of lifelong learning: a strategy's hooks around a fit, in their order."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from lgl_bench.core.errors import PluginError
from lgl_bench.core.seeds import derive
from lgl_bench.core.types import Task, TrainingParameters
from lgl_bench.strategies import EMPTY, Memory, Strategy
from lgl_bench.strategies.offers import Given, seal
from lgl_bench.training.model import Model
from lgl_bench.training.trainer import Fit, Loss, seeded, train


@dataclass(frozen=True, slots=True)
class YearFit:
    """What came of a fit.

    Attributes:
        task: As the strategy saw it: `fit_mask` is its loss.
        memory: What is left for the next year; nothing if the fit is not ok.
    """

    task: Task
    fit: Fit
    memory: Memory = EMPTY


def strategy_seed(seed: int, task: Task) -> int:
    """What a strategy draws from in one fit."""
    return derive(seed, "strategy", task.time, task.fold)


def fit_year(
    model: Model,
    previous: Model | None,
    strategy: Strategy,
    given: Given,
    parameters: TrainingParameters,
    seed: int,
    on_epoch: Callable[[int, float], None] | None = None,
    device: str = "cpu",
) -> YearFit:
    """Fits a model to what a strategy takes of a task.

    Args:
        model: Fresh, or grown from the year before.
        previous: The model of the last year that was fitted, whether or not the model goes on from it.
        strategy: A fresh one.
        given: What it is offered.
        parameters: Of a fresh fit.
        seed: Of the run.
        on_epoch: See `train`.
        device: See `train`.
    """
    start = time.perf_counter()
    task, weights = given.view(strategy, strategy_seed(seed, given.task.task))
    parameters = strategy.training(parameters, previous is not None, given.memory)
    if not isinstance(parameters, TrainingParameters):
        raise PluginError(f"training of a strategy returned {type(parameters).__name__}, not TrainingParameters")
    model.to(device)
    with seeded(seed, "begin", task.time, task.fold):
        strategy.begin(model, previous, given.memory)
    fit = train(model, task, parameters, seed, on_epoch, device, Loss(strategy, weights))
    memory = EMPTY
    if fit.status == "ok":
        with seeded(seed, "end", task.time, task.fold):
            memory = strategy.end(model, given.task, given.memory)
        if not isinstance(memory, Memory):
            raise PluginError(f"end of a strategy returned {type(memory).__name__}; make a memory with task.remember")
        model.zero_grad()
        model.eval()
        model.forget()
    return YearFit(task, replace(fit, seconds=time.perf_counter() - start), seal(memory, given.task))
