"""Fine-tuning: only what is new is learned; the floor of lifelong learning."""

from __future__ import annotations

import numpy as np

from lgl_bench.strategies import FitTask, FitView, Memory, Strategy, strategies


@strategies.register("finetune")
class Finetune(Strategy):
    """Only the new labels in the loss, going on from the year before; nothing is kept."""

    def select(self, task: FitTask, memory: Memory, seed: int) -> FitView:
        """The vertices whose label is new."""
        return FitView(np.flatnonzero(task.new))
