"""Joint training: all history from scratch; the ceiling of accuracy, not of cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lgl_bench.core.types import TrainingParameters
from lgl_bench.strategies import FitTask, Learner, Memory, strategies
from lgl_bench.strategies.history import History

_FITS = "fits"


@strategies.register("joint")
class Joint(History):
    """All history in the loss, fresh weights, as many epochs as all years so far together had."""

    warm = False

    def training(self, parameters: TrainingParameters, previous: bool, memory: Memory) -> TrainingParameters:
        """What the fits of `full` up to this one spend together: one fresh fit, the others going on."""
        before = _fits(memory)
        steps = None
        if parameters.steps is not None and parameters.warm_steps is not None:
            steps = parameters.steps + before * parameters.warm_steps
        return replace(parameters, epochs=parameters.epochs * (before + 1), steps=steps)

    def end(self, model: Learner, task: FitTask, memory: Memory) -> Memory:
        """How many fits there were."""
        return memory.with_arrays({_FITS: np.array([_fits(memory) + 1])})


def _fits(memory: Memory) -> int:
    return int(memory.arrays[_FITS][0]) if _FITS in memory.arrays else 0
