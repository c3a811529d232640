"""A graph as backbones compute on it: tensors, with and without self-loops."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

import dgl
import dgl.ops
import torch

from lgl_bench.backbones.layers.block import Block
from lgl_bench.backbones.layers.sparse import Matrix, to_matrix
from lgl_bench.core.types import Graph
from lgl_bench.streams.tensors import to_dgl


@dataclass(slots=True)
class Inputs:
    """What a forward pass reads.

    Attributes:
        features: Dense or sparse.
        graph: A DGL graph with an arc each way for every edge, no self-loops.
        weights: Weight of every arc of the graph with self-loops, in the order of `looped`; None means 1.
        blocks: One sampled block per layer, if neighbours were sampled.
    """

    features: Matrix
    graph: Any
    weights: torch.Tensor | None = None
    blocks: tuple[Block, ...] | None = None
    _looped: Any = field(default=None, repr=False)
    _scale: torch.Tensor | None = field(default=None, repr=False)

    @property
    def looped(self) -> Any:
        """The graph with a self-loop at every vertex, appended after all other arcs."""
        if self._looped is None:
            self._looped = dgl.add_self_loop(self.graph)
        return self._looped

    def block(self, layer: int) -> Any:
        """Where a layer passes messages: the sampled block, or the whole graph."""
        return self.graph if self.blocks is None else self.blocks[layer]

    def degree_scale(self) -> torch.Tensor:
        """1 / sqrt(degree + 1) of every vertex, as a column."""
        if self._scale is None:
            self._scale = (self.graph.in_degrees().float() + 1.0).rsqrt()[:, None]
        return self._scale

    def symmetric_norm(self) -> torch.Tensor:
        """w_ij / sqrt(out_i in_j) for every arc i -> j of `looped`; out and in are sums of arc weights."""
        graph = self.looped
        weights = torch.ones(graph.num_edges(), device=graph.device) if self.weights is None else self.weights
        # A sum of moved weights can reach 0 or less; the floor keeps the square root real.
        into = dgl.ops.copy_e_sum(graph, weights).clamp_min(1e-6)
        out_of = dgl.ops.copy_e_sum(dgl.reverse(graph), weights).clamp_min(1e-6)
        norm: torch.Tensor = dgl.ops.e_mul_v(graph, dgl.ops.e_mul_u(graph, weights, out_of.rsqrt()), into.rsqrt())
        return norm

    def to(self, device: str) -> Inputs:
        """The same inputs on another device."""
        if device == "cpu":
            return self
        blocks = None if self.blocks is None else tuple(block.to(device) for block in self.blocks)
        weights = None if self.weights is None else self.weights.to(device)
        return Inputs(self.features.to(device), self.graph.to(device), weights, blocks)

    def moved(self, features: Matrix, weights: torch.Tensor | None) -> Inputs:
        """The same graph with other features and arc weights."""
        return replace(self, features=features, weights=weights)


_recent: OrderedDict[int, tuple[Graph, Inputs]] = OrderedDict()
_KEPT = 6


def inputs_of(graph: Graph) -> Inputs:
    """The inputs of a graph; those of the last few graphs are kept, because many models read the same ones."""
    found = _recent.get(id(graph))
    if found is None:
        found = graph, Inputs(to_matrix(graph.features), to_dgl(graph))
        _recent[id(graph)] = found
    _recent.move_to_end(id(graph))
    while len(_recent) > _KEPT:
        _recent.popitem(last=False)
    return found[1]
