"""Strategies: what a method keeps of the past when a new year arrives.

A strategy sees what it is offered of a task, the model of the year before and what it stored itself; nothing else. One
object serves one fit. Its hooks are called in this order: `select`, `training`, `begin`, then `penalty` and
`after_backward` in every step, `end`.

Two questions that benchmarks leave open are settled and named. Do old vertices stay in the graph? `graph` says so. What
is a task? A year, with the classes known by then; labels of new classes arrive after it was scored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

import torch

from lgl_bench.core.expressions import Constant
from lgl_bench.core.registry import Registry
from lgl_bench.core.types import TrainingParameters
from lgl_bench.strategies.contract import FitTask, FitView, Learner, StepOutputs
from lgl_bench.strategies.memory import EMPTY, Memory

__all__ = ["EMPTY", "FitTask", "FitView", "Learner", "Memory", "StepOutputs", "Strategy", "strategies"]

Past: TypeAlias = Literal["all", "memory"]
GraphKept: TypeAlias = Literal["all", "kept"]


class Strategy(ABC):
    """Base of every strategy: write `select`; the other hooks do nothing unless they are written.

    A constructor stores its parameters. What the hooks of a fit learn on the way is kept in attributes that end in `_`.
    """

    past: Past = "memory"
    """Whose labels are offered: of `all` years, or only new ones and those of vertices in `memory`."""
    warm: bool = True
    """Whether a fit goes on from the weights of the last year that was fitted; otherwise it starts anew."""
    graph: GraphKept = "all"
    """Old vertices that stay in the training and test graph: `all`, without their labels, or those `kept` in memory."""
    history: int | None = None
    """Years of the training and test graph that stay, counted in years that exist; None keeps all."""
    grid: ClassVar[Mapping[str, tuple[Constant, ...]]] = MappingProxyType({})
    """A few values per parameter that `lgl-bench tune` tries; those set in the expression stay."""

    @abstractmethod
    def select(self, task: FitTask, memory: Memory, seed: int) -> FitView:
        """The vertices of the loss with their weights, among `task.labelled`.

        Called again, with the same arguments, whenever the fit is scored: it must return the same each time.

        Args:
            task: What is offered.
            memory: What `end` of the last fit returned; `EMPTY` in the first one.
            seed: Whatever is drawn comes from it: `np.random.default_rng(seed)`.
        """

    def training(self, parameters: TrainingParameters, previous: bool, memory: Memory) -> TrainingParameters:
        """How long the fit is: that of a fit that goes on, if it does; few strategies need another.

        Args:
            parameters: Of the run, for a fresh fit.
            previous: Whether there is a model of an earlier year.
            memory: What the last fit left.
        """
        return parameters.continued() if previous and self.warm else parameters

    def begin(self, model: Learner, previous: Learner | None, memory: Memory) -> None:  # noqa: B027
        """Before the first step: teachers, anchors.

        Args:
            model: What is trained: grown from the year before, or fresh.
            previous: The model of the last year that was fitted, as it was, in evaluation mode.
            memory: What the last fit left.
        """

    def penalty(self, model: Learner, outputs: StepOutputs) -> torch.Tensor | float:
        """What is added to the loss of a step."""
        return 0.0

    def after_backward(self, model: Learner) -> None:  # noqa: B027
        """May change the gradients of a step before the optimiser uses them."""

    def end(self, model: Learner, task: FitTask, memory: Memory) -> Memory:
        """What is kept for the next year: `task.remember(...)`; nothing unless it is written.

        Args:
            model: Trained, in evaluation mode.
            task: What was offered.
            memory: What the last fit left.
        """
        return EMPTY


strategies: Registry[type[Any]] = Registry(
    "strategy",
    "lgl_bench.strategies",
    tuple(
        f"lgl_bench.strategies.{name}"
        for name in ("history", "finetune", "joint", "replay", "ewc", "mas", "lwf", "twp", "agem", "ssm")
    ),
    plural="strategies",
)
