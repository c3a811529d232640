"""Sparsified subgraph memory (Zhang et al. 2022): remembered vertices keep a small part of their neighbourhood.

Centres are drawn at random, balanced over classes, and each keeps a tree: in every hop at most `fanout` arcs are drawn
that lead from what the last hop reached to vertices not in it yet. Only these arcs are kept, in both directions, and
the vertices they lead to with their features. Old vertices outside are gone from the graph. A centre keeps its tree as
long as it is in memory: the graph it was drawn from is gone.

loss = 0.5 L_new + 0.5 L_centres. Labels of vertices that are no centres are not kept.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.errors import UsageError
from lgl_bench.core.seeds import generator
from lgl_bench.core.types import BoolArray, IntArray
from lgl_bench.kernels import Arcs
from lgl_bench.strategies import FitTask, FitView, GraphKept, Learner, Memory, Strategy, strategies
from lgl_bench.strategies.picks import reservoir
from lgl_bench.strategies.replay import balanced, check_size

_CENTRES, _TREES = "centres", "trees"


def sample_tree(arcs: Arcs, centre: int, fanout: int, hops: int, rng: np.random.Generator) -> IntArray:
    """Drawn arcs, (2, m), away from the centre; each hop leads to vertices that were not reached before.

    Args:
        arcs: Of the graph, one each way per edge.
        centre: Where it begins.
        fanout: Most arcs per hop.
        hops: How far.
        rng: What is drawn comes from it.
    """
    starts, sources = arcs.starts.numpy(), arcs.sources.numpy()
    inside = frontier = np.array([centre], dtype=np.int64)
    drawn = [np.empty((2, 0), dtype=np.int64)]
    for _ in range(hops):
        near = [sources[starts[one] : starts[one + 1]] for one in frontier]
        ends = np.stack([np.repeat(frontier, [len(part) for part in near]), np.concatenate(near).astype(np.int64)])
        ends = ends[:, ~np.isin(ends[1], inside)]
        if not ends.shape[1]:
            break
        chosen = np.sort(rng.choice(ends.shape[1], min(fanout, ends.shape[1]), replace=False))
        drawn.append(ends[:, chosen])
        frontier = np.unique(ends[1, chosen])
        inside = np.concatenate([inside, frontier])
    return np.concatenate(drawn, axis=1)


@strategies.register("ssm")
class Ssm(Strategy):
    """New vertices and centres in the loss; the graph is that of the year and the memory.

    Args:
        size: Most centres in memory.
        fanout: Most neighbours per centre and hop.
        hops: How far from a centre neighbours are kept.
    """

    graph: GraphKept = "kept"
    grid = MappingProxyType({"size": (50, 200, 500)})

    def __init__(self, size: int = 200, fanout: int = 5, hops: int = 2) -> None:
        check_size(size)
        if fanout < 1:
            raise UsageError(f"fanout = {fanout}: it must be at least 1; `replay(graph=kept)` keeps no neighbours")
        if hops < 1:
            raise UsageError(f"hops = {hops}: it must be at least 1; `replay(graph=kept)` keeps no neighbours")
        self.size = size
        self.fanout = fanout
        self.hops = hops

    def select(self, task: FitTask, memory: Memory, seed: int) -> FitView:
        """New vertices and centres, each half of the loss."""
        self.seed_ = seed
        centres = _centres(task, memory)
        vertices = np.flatnonzero(task.new | centres)
        return balanced(vertices, centres[vertices], 0.5)

    def end(self, model: Learner, task: FitTask, memory: Memory) -> Memory:
        """Centres drawn among new and old ones; new ones have a tree drawn from this year's graph."""
        rng = generator(self.seed_, "ssm", task.task.time, task.task.fold)
        before = _centres(task, memory)
        centres, seen = reservoir(task, before, memory, self.size, rng)
        trees = [_stored_trees(task, memory, centres)]
        arcs = inputs_of(task.train.graph).arcs
        for centre in centres[~before[centres]].tolist():
            tree = sample_tree(arcs, centre, self.fanout, self.hops, rng)
            trees.append(np.concatenate([np.full((1, tree.shape[1]), centre), tree]))
        tree = np.concatenate(trees, axis=1)
        both = np.unique(np.concatenate([tree[1:], tree[:0:-1]], axis=1), axis=1)
        kept = task.remember(
            np.concatenate([centres, tree.ravel()]),
            both,
            **{_CENTRES: task.positions[centres], _TREES: task.positions[tree], **seen},
        )
        return replace(kept, labels=np.where(np.isin(kept.vertices, kept.arrays[_CENTRES]), kept.labels, -1))


def _centres(task: FitTask, memory: Memory) -> BoolArray:
    """Vertices of the training graph that are centres and have their label on offer."""
    known = np.isin(task.positions, memory.arrays.get(_CENTRES, np.empty(0, dtype=np.int64)))
    return known & task.remembered & task.task.fit_mask & ~task.new


def _stored_trees(task: FitTask, memory: Memory, centres: IntArray) -> IntArray:
    """(3, m): centre and both ends of every arc in the trees of those centres that stay, as vertices of the graph."""
    stored = memory.arrays.get(_TREES, np.empty((3, 0), dtype=np.int64))
    stays = np.isin(stored[0], task.positions[centres]) & np.isin(stored, task.positions).all(axis=0)
    order = np.argsort(task.positions)
    return order[np.searchsorted(task.positions, stored[:, stays], sorter=order)]
