"""A strategy walked over planted years, one fit at a time; what comes of a fit is bytes that can be compared."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from lgl_bench.checks.failure import require
from lgl_bench.checks.planted import SMALL, temporal_stream
from lgl_bench.core.expressions import complete, parse, signature
from lgl_bench.core.types import Task, TrainingParameters
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.isolation.requests import dump_weights, fitted, restored
from lgl_bench.runs.scoring import Method, Trained
from lgl_bench.strategies import EMPTY, strategies
from lgl_bench.strategies.memory import dump_memory, parse_memory
from lgl_bench.strategies.offers import Given, offer
from lgl_bench.streams.stream import Stream
from lgl_bench.training.lifelong import YearFit
from lgl_bench.training.model import Model

SIZE = 12
"""Vertices that a strategy with a `size` may remember: far fewer than there are."""
_TRAINING = TrainingParameters(epochs=6, lr=0.02)
_SEED = 0


@dataclass(frozen=True, slots=True)
class YearEnd:
    """What a year ends with.

    Attributes:
        task: As the protocol cuts it.
        given: What the strategy was offered.
        made: Bytes of its weights, its memory and its answers, by these names.
    """

    task: Task
    given: Given
    model: Model
    fit: YearFit
    made: dict[str, bytes]

    def differs(self, other: YearEnd) -> str:
        """What is not the same in another one; "" if all is."""
        return " and ".join(what for what, data in self.made.items() if data != other.made[what])


def chain_method(name: str, size: int = SIZE, epochs: int = _TRAINING.epochs) -> Method:
    """A small GCN with a strategy; one that has a `size` gets this one, other parameters have their defaults."""
    _, accepted = signature(strategies.get(name))
    expression = complete(parse(f"{name}(size={size})" if "size" in accepted else name), strategies)
    preset = Preset("check", dict(SMALL), replace(_TRAINING, epochs=epochs))
    return Method("gcn", "softmax", preset, (), strategy=expression)


def planted_tasks(method: Method, stream: Stream | None = None) -> list[Task]:
    """Three years to learn from, one after the other; a class becomes known in the second."""
    protocol = Temporal(history=method.build_strategy().history)
    return [task for task, _ in protocol.tasks(stream or temporal_stream(), _SEED)]


def fit_task(method: Method, task: Task, last: YearEnd | None = None, noise: int = 0) -> YearEnd:
    """Fits one year.

    Args:
        method: With its strategy.
        task: Of the year.
        last: The year before, if there is one.
        noise: Seed of the random numbers that everybody shares, which must not matter.
    """
    built = method.build_strategy()
    memory = EMPTY if last is None else last.fit.memory
    given = Given(offer(task, None if last is None else last.task, memory, built.past, built.graph), memory)
    before = None if last is None else Trained(last.model, last.fit.task)
    random.seed(noise)
    np.random.seed(noise)
    torch.manual_seed(noise)
    model, year = fitted(method, given, before, _SEED)
    require(year.fit.status == "ok", f"the fit for {task.time} {year.fit.status}: {year.fit.reason}")
    answers = model.probabilities(year.task.test)[year.task.scored]
    made = {"weights": dump_weights(model), "memory": dump_memory(year.memory), "answers": answers.tobytes()}
    return YearEnd(task, given, model, year, made)


def walk_tasks(method: Method, tasks: Sequence[Task], noise: int = 0) -> list[YearEnd]:
    """Fits year after year, each from the objects that the one before left."""
    ends: list[YearEnd] = []
    for task in tasks:
        ends.append(fit_task(method, task, ends[-1] if ends else None, noise))
    return ends


def reread(method: Method, end: YearEnd) -> YearEnd:
    """A year as it is after a stop: weights and memory are read from their bytes."""
    model = restored(method, end.fit.task, end.made["weights"])
    return replace(end, model=model, fit=replace(end.fit, memory=parse_memory(end.made["memory"])))
