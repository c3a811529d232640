"""Weights that mattered in earlier years are held where they were: what EWC, MAS and TWP share.

penalty = strength * sum_i importance_i (theta_i - theta*_i)^2, theta* the weights of the year before. Importances are
summed over years. Outputs that grew since have importance 0: a grown weight keeps what was there in its leading corner.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.strategies import FitTask, FitView, Learner, Memory, StepOutputs, Strategy

_PREFIX = "importance:"


def padded(array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """An array in the leading corner of a larger one, the rest 0.

    >>> padded(np.array([[1.0, 2.0]]), (2, 3)).tolist()
    [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    """
    grown = np.zeros(shape, dtype=array.dtype)
    grown[tuple(slice(0, size) for size in array.shape)] = array
    return grown


def quadratic(
    weights: Mapping[str, torch.Tensor], anchors: Mapping[str, torch.Tensor], importances: Mapping[str, torch.Tensor]
) -> torch.Tensor | float:
    """Sum of importance * (weight - anchor)^2 over all that have an importance; all of one name have one shape."""
    terms = [(one * (weights[name] - anchors[name]).square()).sum() for name, one in importances.items()]
    return torch.stack(terms).sum() if terms else 0.0


def stored_importances(memory: Memory) -> dict[str, npt.NDArray[Any]]:
    """Importances by name of the weight; none in the first year."""
    return {name.removeprefix(_PREFIX): one for name, one in memory.arrays.items() if name.startswith(_PREFIX)}


def check_factor(name: str, value: float) -> None:
    """Refuses a factor that is negative or not finite."""
    if not 0 <= value < math.inf:
        raise UsageError(f"{name} = {value}: it must be at least 0 and finite; 0 leaves the term out")


class Anchored(Strategy):
    """New labels in the loss, and a quadratic penalty on moving weights that were important: write `importances`."""

    strength: float = 1.0
    """Factor of the penalty."""

    @abstractmethod
    def importances(self, model: Learner, task: FitTask) -> dict[str, torch.Tensor]:
        """Importance of every weight for this year, by name, when it has been learned; the model evaluates."""

    def select(self, task: FitTask, memory: Memory, seed: int) -> FitView:
        """The vertices whose label is new."""
        self.task_ = task
        self.seed_ = seed
        return FitView(np.flatnonzero(task.new))

    def begin(self, model: Learner, previous: Learner | None, memory: Memory) -> None:
        """Takes the anchors from the model of the year before, padded to what has grown."""
        before = {} if previous is None else {name: weight.detach() for name, weight in previous.named_parameters()}
        stored = stored_importances(memory)
        self.anchors_: dict[str, torch.Tensor] = {}
        self.importances_: dict[str, torch.Tensor] = {}
        for name, weight in model.named_parameters():
            if name in before and name in stored:
                shape = tuple(weight.shape)
                self.anchors_[name] = torch.from_numpy(padded(before[name].cpu().numpy(), shape)).to(weight.device)
                self.importances_[name] = torch.from_numpy(padded(stored[name], shape)).to(weight.device)

    def penalty(self, model: Learner, outputs: StepOutputs) -> torch.Tensor | float:
        """Strength times the quadratic penalty; 0 in the first year."""
        return self.strength * quadratic(dict(model.named_parameters()), self.anchors_, self.importances_)

    def end(self, model: Learner, task: FitTask, memory: Memory) -> Memory:
        """The importances of all years so far; no vertex is kept."""
        stored = stored_importances(memory)
        total = {name: one.detach().cpu().numpy() for name, one in self.importances(model, task).items()}
        for name, one in total.items():
            if name in stored:
                total[name] = one + padded(stored[name], one.shape)
        return memory.with_arrays({f"{_PREFIX}{name}": one for name, one in total.items()})
