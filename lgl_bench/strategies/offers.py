"""What a strategy is offered of a task: labels that are new or remembered, and the graph that stays.

This runs where the whole task is; a strategy that is not built in gets what comes of it, in a process of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Sparse, Task, read_only
from lgl_bench.protocols.subgraph import induced
from lgl_bench.strategies import EMPTY, FitTask, FitView, GraphKept, Memory, Past, Strategy
from lgl_bench.strategies.memory import ORDER, is_ordered


@dataclass(frozen=True, slots=True)
class Given:
    """What a fit is given: its task as it is offered, and what the last fit left.

    Attributes:
        others: What the further members of an ensemble are given.
    """

    task: FitTask
    memory: Memory = EMPTY
    others: tuple[Given, ...] = ()

    @property
    def members(self) -> tuple[Given, ...]:
        """What each member is given; this alone if the model is a single one."""
        return (replace(self, others=()), *self.others)

    def view(self, strategy: Strategy, seed: int) -> tuple[Task, FloatArray | None]:
        """The task with the strategy's loss, and the weights of its vertices with a mean of 1; None if all are alike.

        Raises:
            PluginError: The strategy chose vertices without a label on offer, or weights that are none.
        """
        return _viewed(self.task, strategy.select(self.task, self.memory, seed))


def offer(task: Task, earlier: Task | None, memory: Memory, past: Past = "all", graph: GraphKept = "all") -> FitTask:
    """What is offered of a task.

    Args:
        task: As the protocol cuts it.
        earlier: The task of the last fit, as the protocol cuts it; None in the first one.
        memory: What that fit left.
        past: Whose labels are offered.
        graph: Which old vertices stay in the graph.
    """
    train = task.train
    positions = np.arange(train.first, train.first + train.graph.num_vertices)
    new, recent = np.array(task.fit_mask), np.ones(len(positions), dtype=np.bool_)
    if earlier is not None:
        seen = earlier.train.first + np.flatnonzero(earlier.fit_mask) - train.first
        new[seen[seen >= 0]] = False
        recent = train.born > earlier.train.born[earlier.fit_mask].max(initial=train.born.min(initial=0) - 1)
    at = memory.vertices - train.first
    inside = (at >= 0) & (at < len(positions))
    remembered = np.zeros(len(positions), dtype=np.bool_)
    remembered[at[inside]] = True
    if past == "all":
        return FitTask(task, new, recent, remembered, positions)
    labels = np.where(new, train.labels, -1)
    stored = memory.labels[inside]
    labels[at[inside][stored >= 0]] = stored[stored >= 0]
    offered = replace(_with_loss(task, labels >= 0), train=replace(train, labels=labels))
    if graph == "all" or earlier is None:
        return FitTask(offered, new, recent, remembered, positions)
    keep = new | recent | remembered
    offered = _cut(offered, keep, ~_forgotten(offered, memory, new | recent, remembered, positions))
    return FitTask(offered, new[keep], recent[keep], remembered[keep], positions[keep])


def seal(memory: Memory, task: FitTask) -> Memory:
    """A memory and no more, with labels that were on offer, whatever it says itself; one it gave up stays away.

    Raises:
        PluginError: Its arrays do not go together, or it holds a vertex that was not in the training graph.
    """
    if not memory:
        return EMPTY
    if not is_ordered(memory):
        raise PluginError(f"what the strategy remembers is not ordered: {ORDER}; task.remember makes such a memory")
    at = np.searchsorted(task.positions, memory.vertices)
    beyond = np.append(task.positions, -1)
    if (beyond[at] != memory.vertices).any():
        raise PluginError("the strategy remembers vertices that are not in its training graph")
    labels = np.where(memory.labels < 0, -1, task.train.labels[at])
    # Not `replace`: a class of somebody's own would carry on what is not stored.
    return Memory(memory.vertices, labels, memory.edges, memory.arrays)


def memory_size(memory: Memory, task: FitTask, past: Past) -> tuple[int, int]:
    """Vertices that are remembered, and bytes: their features, and all that is stored with them.

    If all history is on offer, all of it that has a label counts: that is what has to be kept for the next year.
    """
    if past == "all":
        kept = task.labelled
        return len(kept), _row_bytes(task, kept) + 16 * len(kept) + memory.nbytes
    at = np.searchsorted(task.positions, memory.vertices)
    return len(memory), _row_bytes(task, at) + memory.nbytes


def _row_bytes(task: FitTask, rows: IntArray) -> int:
    """Bytes of the features of some vertices."""
    features = task.train.graph.features
    if isinstance(features, Sparse):
        entries = int((features.indptr[rows + 1] - features.indptr[rows]).sum())
        return entries * (features.indices.itemsize + features.values.itemsize) + len(rows) * features.indptr.itemsize
    return len(rows) * int(features.shape[1]) * int(features.itemsize)


def _forgotten(task: Task, memory: Memory, young: BoolArray, remembered: BoolArray, positions: IntArray) -> BoolArray:
    """Arcs of the test graph between old vertices that a memory with arcs of its own does not hold."""
    arcs = task.test.edges
    if memory.edges is None:
        return np.zeros(arcs.shape[1], dtype=np.bool_)
    old = np.zeros(task.test.num_vertices, dtype=np.bool_)
    old[: len(young)] = remembered & ~young
    between = old[arcs].all(axis=0)
    first, size = (int(positions[0]) if len(positions) else 0), task.test.num_vertices
    inside = memory.edges[:, (memory.edges >= first).all(axis=0)] - first
    held = inside[0] * size + inside[1]
    return between & ~np.isin(arcs[0] * size + arcs[1], held)


def _cut(task: Task, keep: BoolArray, arcs: BoolArray) -> Task:
    """The task on the vertices that are kept and those to be scored, with some of the arcs of the test graph."""
    whole = np.ones(task.test.num_vertices, dtype=np.bool_)
    whole[: len(keep)] = keep
    number = np.cumsum(whole) - 1
    inside = arcs[: task.train.graph.edges.shape[1]]
    train, kept = induced(replace(task.train.graph, edges=task.train.graph.edges[:, inside]), keep)
    test, _ = induced(replace(task.test, edges=task.test.edges[:, arcs]), whole)
    calibration = task.calibration
    if calibration is not None:
        calibration = number[calibration[keep[calibration]]]
    first = task.train.first + (int(kept[0]) if len(kept) else 0)
    return replace(
        task,
        train=replace(task.train, graph=train, labels=task.train.labels[kept], first=first),
        fit_mask=task.fit_mask[kept],
        calibration=calibration,
        test=test,
        scored=number[task.scored],
        trained=None if task.trained is None else number[task.trained],
    )


def _with_loss(task: Task, mask: BoolArray) -> Task:
    """The task with its loss on some vertices; where they are in the test graph is known of those of the protocol."""
    trained = task.trained
    if trained is not None:
        # A protocol that is built on another may have changed the loss and not this.
        same = len(trained) == task.fit_mask.sum() and not (mask & ~task.fit_mask).any()
        trained = trained[mask[task.fit_mask]] if same else None
    return replace(task, fit_mask=mask, trained=trained)


def _viewed(task: FitTask, view: FitView) -> tuple[Task, FloatArray | None]:
    if not isinstance(view, FitView):
        raise PluginError(f"select of a strategy returned {type(view).__name__}; it must return a FitView")
    vertices = np.asarray(view.vertices)
    if vertices.ndim != 1 or (len(vertices) and vertices.dtype.kind not in "iu"):
        raise PluginError("select must return the numbers of vertices, in an array of one dimension")
    vertices = vertices.astype(np.int64)
    inside = ((vertices >= 0) & (vertices < len(task.positions))).all()
    if not inside or len(np.unique(vertices)) < len(vertices) or not task.task.fit_mask[vertices].all():
        raise PluginError("select chose a vertex twice, or one that has no label on offer; see task.labelled")
    mask = np.zeros(len(task.positions), dtype=np.bool_)
    mask[vertices] = True
    if view.weights is None:
        return _with_loss(task.task, mask), None
    weights = np.asarray(view.weights, dtype=np.float64)
    if weights.shape != vertices.shape or not (np.isfinite(weights) & (weights > 0)).all():
        raise PluginError("the weights that select returns must be positive numbers, one per vertex")
    ordered = weights[np.argsort(vertices)]
    if not len(ordered) or (ordered == ordered[0]).all():
        return _with_loss(task.task, mask), None
    return _with_loss(task.task, mask), read_only(ordered / ordered.mean())
