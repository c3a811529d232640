"""Sampled arcs between the vertices a layer reads and those it computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import torch

from lgl_bench.backbones.layers.products import times
from lgl_bench.core.types import IntArray


class Block:
    """Which of the vertices read each target averages; the targets are the first of the vertices read.

    Args:
        starts: Where the arcs of each target start, and where the last one's end.
        sources: Place of the vertex read, one entry per arc.
        read: Number of vertices read.
    """

    def __init__(self, starts: IntArray, sources: IntArray, read: int) -> None:
        self.starts = starts
        self.sources = sources
        self.read = read
        self._means: Any = None
        self._device = "cpu"

    @property
    def targets(self) -> int:
        """Number of vertices computed."""
        return len(self.starts) - 1

    def mean(self, h: torch.Tensor) -> torch.Tensor:
        """Mean of what each target reads; zero if it reads nothing."""
        if self._means is None:
            counts = np.diff(self.starts)
            parts = (np.repeat(1.0 / np.maximum(counts, 1), counts).astype(np.float32), self.sources, self.starts)
            self._means = scipy.sparse.csr_matrix(parts, shape=(self.targets, self.read))
        if self._device == "cpu":
            return times(self._means, h)
        matrix = self._means.tocoo()
        at = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
        shares = torch.from_numpy(matrix.data)
        sparse = torch.sparse_coo_tensor(at, shares, matrix.shape, device=self._device, check_invariants=False)
        return torch.sparse.mm(sparse, h)  # type: ignore[no-any-return]

    def to(self, device: str) -> Block:
        """The same block where it is to be computed on."""
        other = Block(self.starts, self.sources, self.read)
        other._device = device
        return other
