"""Sparse features times a weight matrix, differentiable in both.

Where few values are non-zero this is several times faster than a dense product. Ones of a matrix that stays are
summed by DGL, as message passing on a bipartite graph from features to vertices, the fastest of all; what is
multiplied once or weighted is a plain sparse product; and values with a gradient, or on a GPU, are DGL's again.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import dgl
import dgl.ops
import numpy as np
import scipy.sparse
import torch

from lgl_bench.backbones.layers.products import times
from lgl_bench.core.types import Features, Sparse
from lgl_bench.streams.tensors import shared_tensor

# Below this share of non-zero values, and from this many columns on, the sparse product is the cheaper one. Adding
# rows is cheap, weighting each of them first costs several times as much (measured on one core, forward and back:
# 0.3 ns and 0.9 ns for each value and column, a dense product 0.05 ns for each entry and column).
_DENSEST_ONES = 0.15
_DENSEST = 0.04
_FEWEST_COLUMNS = 32


class SparseMatrix:
    """Rows of sparse features as a bipartite graph with one value per edge."""

    def __init__(self, features: Sparse, values: torch.Tensor | None = None) -> None:
        self.features = features
        self.values = shared_tensor(features.values) if values is None else values
        self.ones = values is None and bool((features.values == 1).all())
        self.stays = True
        self._graph: Any = None
        self._rows: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.features.shape

    @property
    def graph(self) -> Any:
        """The bipartite graph, built on first use."""
        if self._graph is None:
            row = np.repeat(np.arange(self.shape[0]), np.diff(self.features.indptr))
            ends = (shared_tensor(self.features.indices).long(), torch.from_numpy(row))
            counts = {"feature": self.shape[1], "vertex": self.shape[0]}
            self._graph = dgl.heterograph({("feature", "in", "vertex"): ends}, num_nodes_dict=counts)
        return self._graph

    @property
    def rows(self) -> Any:
        """The matrix as scipy has it, built on first use."""
        if self._rows is None:
            parts = (self.values.numpy(), self.features.indices, self.features.indptr)
            self._rows = scipy.sparse.csr_matrix(parts, shape=self.shape)
        return self._rows

    def __matmul__(self, weight: torch.Tensor) -> torch.Tensor:
        """The product with a (columns, k) matrix."""
        if not len(self.values):
            return weight.new_zeros(self.shape[0], weight.shape[1])
        constant = not self.values.requires_grad and self.values.device.type == "cpu"
        if constant and not (self.ones and self.stays):
            return times(self.rows, weight)
        if self.ones:
            product: torch.Tensor = dgl.ops.copy_u_sum(self.graph, weight)
        else:
            product = dgl.ops.u_mul_e_sum(self.graph, weight, self.values[:, None])
        return product

    def with_values(self, values: torch.Tensor) -> SparseMatrix:
        """The same places with other values; gradients flow into them."""
        other = SparseMatrix(self.features, values)
        other._graph = self.graph
        return other

    def take(self, rows: torch.Tensor) -> SparseMatrix:
        """Some of the rows."""
        chosen = rows.numpy()
        starts, lengths = self.features.indptr[chosen], np.diff(self.features.indptr)[chosen]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
        taken = Sparse(indptr, self.features.indices[at], self.features.values[at], self.features.columns)
        matrix = SparseMatrix(taken)
        matrix.stays = False
        return matrix

    def to(self, device: str) -> SparseMatrix:
        """The same matrix where it is to be computed on."""
        other = SparseMatrix(self.features, self.values.to(device))
        other.ones = self.ones
        other._graph = self.graph.to(device)
        return other

    def dense(self) -> torch.Tensor:
        """The same matrix as a dense tensor."""
        return torch.from_numpy(self.features.dense())


Matrix: TypeAlias = torch.Tensor | SparseMatrix


def to_matrix(features: Features) -> Matrix:
    """Features as the cheaper of the two: sparse or dense."""
    if not isinstance(features, Sparse):
        return shared_tensor(np.ascontiguousarray(features))
    most = _DENSEST_ONES if (features.values == 1).all() else _DENSEST
    size = features.shape[0] * features.shape[1]
    cheaper = features.columns >= _FEWEST_COLUMNS and len(features.values) < most * size
    return SparseMatrix(features) if cheaper else torch.from_numpy(features.dense())


def take_rows(matrix: Matrix, rows: torch.Tensor) -> Matrix:
    """Some rows of a dense or sparse matrix."""
    return matrix.take(rows) if isinstance(matrix, SparseMatrix) else matrix[rows]
