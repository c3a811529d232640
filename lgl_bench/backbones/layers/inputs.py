"""A graph as backbones compute on it: tensors, with and without self-loops."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from lgl_bench.backbones.layers.sparse import Matrix, SparseMatrix, to_matrix
from lgl_bench.core.graph_libraries import dgl_graph, pyg_data
from lgl_bench.core.types import Graph
from lgl_bench.kernels import Arcs, arcs_at_two_hops


@dataclass(slots=True)
class Inputs:
    """What a forward pass reads.

    Attributes:
        features: Dense or sparse.
        arcs: An arc each way for every edge, no self-loops.
        weights: Weight of every arc of `looped`, in their order; None means 1.
        blocks: One sampled block per layer, if neighbours were sampled.
    """

    features: Matrix
    arcs: Arcs
    weights: torch.Tensor | None = None
    blocks: tuple[Arcs, ...] | None = None
    _looped: Arcs | None = field(default=None, repr=False)
    _scale: torch.Tensor | None = field(default=None, repr=False)
    _weighted: tuple[torch.Tensor, torch.Tensor] | None = field(default=None, repr=False)
    _two_hops: Arcs | None = field(default=None, repr=False)
    _on_cpu: Inputs | None = field(default=None, repr=False)

    @property
    def num_vertices(self) -> int:
        """Number of vertices of the graph."""
        return self.arcs.num_targets

    @property
    def looped(self) -> Arcs:
        """The arcs and a self-loop at every vertex, after its others."""
        if self._looped is None:
            self._looped = self.arcs.with_loops()
        return self._looped

    @property
    def two_hops(self) -> Arcs:
        """An arc from every vertex at distance two: a neighbour of a neighbour that is no neighbour itself."""
        if self._two_hops is None:
            here = self._on_cpu
            self._two_hops = arcs_at_two_hops(self.arcs) if here is None else here.two_hops.to(str(self.arcs.device))
        return self._two_hops

    def block(self, layer: int) -> Arcs:
        """Where a layer passes messages: the sampled block, or the whole graph."""
        return self.arcs if self.blocks is None else self.blocks[layer]

    def degree_scales(self) -> tuple[torch.Tensor, torch.Tensor]:
        """1 / sqrt(out_i) and 1 / sqrt(in_i) of every vertex, as columns: sums of the weights of arcs of `looped`."""
        if self.weights is None:
            if self._scale is None:
                self._scale = (self.arcs.counts.float() + 1.0).rsqrt()[:, None]
            return self._scale, self._scale
        if self._weighted is not None:
            return self._weighted
        nothing = self.weights.new_zeros(self.num_vertices)
        out_of = nothing.index_add(0, self.looped.sources, self.weights)
        into = nothing.index_add(0, self.looped.targets, self.weights)
        # A sum of moved weights can reach 0 or less; the floor keeps the square root real.
        return out_of.clamp_min(1e-6).rsqrt()[:, None], into.clamp_min(1e-6).rsqrt()[:, None]

    def scaled(self) -> Inputs:
        """The same inputs for one forward pass, whose layers share the degree scales."""
        return self if self.weights is None else replace(self, _weighted=self.degree_scales())

    def to(self, device: str) -> Inputs:
        """The same inputs on another device."""
        if device == "cpu":
            return self
        blocks = None if self.blocks is None else tuple(block.to(device) for block in self.blocks)
        weights = None if self.weights is None else self.weights.to(device)
        looped = None if blocks is not None else self.looped.to(device)
        return Inputs(self.features.to(device), self.arcs.to(device), weights, blocks, looped, _on_cpu=self)

    def moved(self, features: Matrix, weights: torch.Tensor | None) -> Inputs:
        """The same graph with other features and arc weights."""
        return replace(self, features=features, weights=weights, _weighted=None)

    def to_dgl(self) -> Any:
        """The arcs as a DGL graph, for a plugin that computes with it; DGL must be installed."""
        return dgl_graph(self.arcs.sources.long(), self.arcs.targets, self.num_vertices)

    def to_pyg(self) -> Any:
        """Features and arcs as a `torch_geometric.data.Data`; PyG must be installed. Sparse features become dense."""
        features = self.features.dense() if isinstance(self.features, SparseMatrix) else self.features
        return pyg_data(features, self.arcs.sources.long(), self.arcs.targets)

    def to_torch_sparse(self) -> torch.Tensor:
        """The arcs as a sparse matrix of ones in torch's CSR layout: row target, column source."""
        ones = torch.ones(self.arcs.num_arcs, device=self.arcs.device)
        size = (self.num_vertices, self.arcs.num_sources)
        return torch.sparse_csr_tensor(self.arcs.starts, self.arcs.sources.long(), ones, size)


# Many models read the same few graphs, and what a run reads again and again must not be prepared anew.
_recent: OrderedDict[tuple[int, int], tuple[Graph, Inputs]] = OrderedDict()
_KEPT = 6


def identity(graph: Graph) -> tuple[int, int]:
    """The same for graphs that share features and edges, which are never changed; for as long as one of them is kept.

    A `ScoredGraph` shares them with the graph it was made of.
    """
    return id(graph.features), id(graph.edges)


def inputs_of(graph: Graph) -> Inputs:
    """The inputs of a graph; those of the last few graphs are kept."""
    key = identity(graph)
    found = _recent.get(key)
    if found is None:
        arcs = Arcs.of_edges(np.asarray(graph.edges), graph.num_vertices)
        found = graph, Inputs(to_matrix(graph.features), arcs)
        _recent[key] = found
    _recent.move_to_end(key)
    while len(_recent) > _KEPT:
        _recent.popitem(last=False)
    return found[1]
