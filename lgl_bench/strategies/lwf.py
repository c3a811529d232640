"""Learning without forgetting (Li and Hoiem 2016): the model of the year before teaches its own outputs.

penalty = strength * mean over the vertices v of a step of -sum_k p_k(v) log q_k(v), p = softmax(f_old / T) and
q = softmax(f / T), both over the outputs the old model has; no factor T^2.
"""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
import torch

from lgl_bench.core.errors import UsageError
from lgl_bench.strategies import FitTask, FitView, Learner, Memory, StepOutputs, Strategy, strategies
from lgl_bench.strategies.importance import check_factor


def distillation(logits: torch.Tensor, teacher: torch.Tensor, temperature: float) -> torch.Tensor:
    """Mean cross-entropy of softmax(logits / T) to softmax(teacher / T), over the columns of the teacher."""
    target = torch.softmax(teacher / temperature, dim=1)
    said = torch.log_softmax(logits[:, : teacher.shape[1]] / temperature, dim=1)
    return -(target * said).sum(dim=1).mean()


@strategies.register("lwf")
class Lwf(Strategy):
    """New labels in the loss, and the old model's answers on the same vertices beside them; nothing is kept.

    Args:
        strength: Factor of the cross-entropy to the old model.
        temperature: T; larger ones tell more of the classes that are not the largest.
    """

    grid = MappingProxyType({"strength": (0.1, 1.0, 10.0)})

    def __init__(self, strength: float = 1.0, temperature: float = 2.0) -> None:
        check_factor("strength", strength)
        if not 0 < temperature < math.inf:
            raise UsageError(f"temperature = {temperature}: it must be positive and finite")
        self.strength = strength
        self.temperature = temperature

    def select(self, task: FitTask, memory: Memory, seed: int) -> FitView:
        """The vertices whose label is new."""
        self.task_ = task
        return FitView(np.flatnonzero(task.new))

    def begin(self, model: Learner, previous: Learner | None, memory: Memory) -> None:
        """Asks the old model once, on the whole training graph."""
        self.teacher_ = None if previous is None else previous.outputs(self.task_.train.graph).logits

    def penalty(self, model: Learner, outputs: StepOutputs) -> torch.Tensor | float:
        """Strength times the cross-entropy to the old model; 0 in the first year."""
        if self.teacher_ is None or not len(outputs.vertices):
            return 0.0
        teacher = self.teacher_[outputs.vertices].to(outputs.logits.device)
        return self.strength * distillation(outputs.logits, teacher, self.temperature)
