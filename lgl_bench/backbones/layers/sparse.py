"""Sparse features times a weight matrix, differentiable in both: sums along the arcs from features to vertices."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch

from lgl_bench.core.types import Features, Sparse
from lgl_bench.kernels import Arcs, neighbour_sum, take_arcs, weighted_sum
from lgl_bench.streams.tensors import shared_tensor

# Below this share of non-zero values, and from this many columns on, the sparse product is the cheaper one.
_DENSEST = 0.15
_FEWEST_COLUMNS = 32


class SparseMatrix:
    """Rows of sparse features: an arc from a column to a row for every value.

    Args:
        arcs: From columns to rows.
        values: One per arc.
        ones: Whether all values are 1, and stay so.
    """

    def __init__(self, arcs: Arcs, values: torch.Tensor, ones: bool = False) -> None:
        self.arcs = arcs
        self.values = values
        self.ones = ones

    @classmethod
    def of(cls, features: Sparse) -> SparseMatrix:
        """The matrix of sparse features, in their memory."""
        starts, columns = features.indptr.astype(np.int64, copy=False), features.indices.astype(np.int32, copy=False)
        arcs = Arcs(shared_tensor(starts), shared_tensor(columns), features.columns)
        return cls(arcs, shared_tensor(features.values), bool((features.values == 1).all()))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.arcs.num_targets, self.arcs.num_sources

    def __matmul__(self, weight: torch.Tensor) -> torch.Tensor:
        """The product with a (columns, k) matrix."""
        return neighbour_sum(self.arcs, weight) if self.ones else weighted_sum(self.arcs, weight, self.values)

    def with_values(self, values: torch.Tensor) -> SparseMatrix:
        """The same places with other values; gradients flow into them."""
        return SparseMatrix(self.arcs, values)

    def head(self, rows: int) -> SparseMatrix:
        """The first rows, in the same memory."""
        if rows == self.shape[0]:
            return self
        arcs = self.arcs.head(rows)
        return SparseMatrix(arcs, self.values[: arcs.num_arcs], self.ones)

    def slice(self, start: int, stop: int) -> SparseMatrix:
        """Rows `start` to `stop`; gradients flow into their values."""
        starts = self.arcs.starts[start : stop + 1]
        first, last = int(starts[0]), int(starts[-1])
        arcs = Arcs(starts - first, self.arcs.sources[first:last], self.arcs.num_sources)
        return SparseMatrix(arcs, self.values[first:last], self.ones)

    def take(self, rows: torch.Tensor) -> SparseMatrix:
        """Some of the rows."""
        return SparseMatrix(*take_arcs(self.arcs, rows, self.values), self.ones)

    def to(self, device: str) -> SparseMatrix:
        """The same matrix on another device."""
        return SparseMatrix(self.arcs.to(device), self.values.to(device), self.ones)

    def dense(self) -> torch.Tensor:
        """The same matrix as a dense tensor."""
        matrix = self.values.new_zeros(self.shape)
        return matrix.index_put((self.arcs.targets, self.arcs.sources.long()), self.values, accumulate=True)


Matrix: TypeAlias = torch.Tensor | SparseMatrix


def to_matrix(features: Features) -> Matrix:
    """Features as the cheaper of the two: sparse or dense."""
    if not isinstance(features, Sparse):
        return shared_tensor(np.ascontiguousarray(features))
    size = features.shape[0] * features.shape[1]
    cheaper = features.columns >= _FEWEST_COLUMNS and len(features.values) < _DENSEST * size
    return SparseMatrix.of(features) if cheaper else torch.from_numpy(features.dense())


def take_rows(matrix: Matrix, rows: torch.Tensor) -> Matrix:
    """Some rows of a dense or sparse matrix."""
    return matrix.take(rows) if isinstance(matrix, SparseMatrix) else matrix[rows]


def slice_rows(matrix: Matrix, start: int, stop: int) -> Matrix:
    """Rows `start` to `stop` of a dense or sparse matrix; gradients flow into their values."""
    return matrix.slice(start, stop) if isinstance(matrix, SparseMatrix) else matrix[start:stop]
