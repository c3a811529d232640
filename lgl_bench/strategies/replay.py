"""Replay: a small memory of old vertices, balanced over classes, takes part in the loss of new ones.

loss = w L_new + (1 - w) L_memory, each a mean. `halves`: w = 0.5. `er-gnn` (Zhou and Cao 2021): w = memory / (memory +
new), in vertices, so that the smaller part weighs more. `counts`: all vertices alike; with a memory that holds
everything this is `full`.

Picks: `random`, a uniform sample of each class over all years; `mean` (ER-GNN's MF), those whose embedding z is nearest
the mean of their class; `coverage` (ER-GNN's CM), those with the fewest vertices of other classes within distance d of
z, d being 0.5 of the median distance between classes. Candidates are the vertices whose labels are on offer: new ones
and those in memory.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.seeds import generator
from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.strategies import FitTask, FitView, GraphKept, Learner, Memory, Strategy, strategies
from lgl_bench.strategies.picks import intruders, lowest, mean_distances, reservoir

_REACH = 0.5


def check_size(size: int) -> None:
    """Refuses a memory of no vertex."""
    if size < 1:
        raise UsageError(f"size = {size}: at least one vertex must be remembered; `finetune` remembers none")


def balanced(vertices: IntArray, kept: BoolArray, share: float) -> FitView:
    """A loss of which the part of new vertices weighs `share`, and that of kept ones the rest; None if one is empty.

    Args:
        vertices: Of the loss.
        kept: Which of them are in memory.
        share: In (0, 1).
    """
    old = int(kept.sum())
    new = len(vertices) - old
    if not old or not new:
        return FitView(vertices)
    weights: FloatArray = np.where(kept, (1 - share) / old, share / new) * len(vertices)
    return FitView(vertices, weights)


@strategies.register("replay")
class Replay(Strategy):
    """New and remembered vertices in the loss.

    Args:
        size: Most vertices in memory.
        pick: Which ones: "random", "mean" or "coverage".
        balance: How the two parts of the loss weigh: "halves", "er-gnn" or "counts"; "auto" is "halves" for random
            picks and "er-gnn" for the others.
        graph: Whether "all" old vertices stay in the graph, without their labels, or those "kept" in memory.
    """

    grid = MappingProxyType({"size": (50, 200, 500)})

    def __init__(
        self,
        size: int = 200,
        pick: Literal["random", "mean", "coverage"] = "random",
        balance: Literal["auto", "halves", "er-gnn", "counts"] = "auto",
        graph: GraphKept = "all",
    ) -> None:
        check_size(size)
        for name, value, known in (
            ("pick", pick, ("random", "mean", "coverage")),
            ("balance", balance, ("auto", "halves", "er-gnn", "counts")),
            ("graph", graph, ("all", "kept")),
        ):
            if value not in known:
                raise UsageError(f"{name} = '{value}': it is one of {', '.join(known)}")
        self.size = size
        self.pick = pick
        self.balance = balance
        self.graph = graph

    def select(self, task: FitTask, memory: Memory, seed: int) -> FitView:
        """New and remembered vertices, weighted as `balance` says."""
        self.seed_ = seed
        vertices = task.labelled
        kept = task.remembered[vertices]
        balance = self.balance
        if balance == "auto":
            balance = "halves" if self.pick == "random" else "er-gnn"
        if balance == "counts" or not len(vertices):
            return FitView(vertices)
        return balanced(vertices, kept, 0.5 if balance == "halves" else float(kept.mean()))

    def end(self, model: Learner, task: FitTask, memory: Memory) -> Memory:
        """The vertices that are picked now, among new and remembered ones."""
        rng = generator(self.seed_, "replay", task.task.time, task.task.fold)
        if self.pick == "random":
            vertices, seen = reservoir(task, task.remembered, memory, self.size, rng)
            return task.remember(vertices, **seen)
        candidates = task.labelled
        labels = task.train.labels[candidates]
        z = model.outputs(task.train.graph).embeddings[candidates].double().numpy()
        scores = mean_distances(z, labels) if self.pick == "mean" else intruders(z, labels, _REACH, rng)
        return task.remember(candidates[lowest(scores, labels, self.size, rng)])
