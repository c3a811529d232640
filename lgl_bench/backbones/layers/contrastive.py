"""Graph-MLP's contrastive loss, and the neighbourhood weights it reads.

l_i = -log( sum_{j != i} gamma_ij exp(sim_ij / tau) / sum_{k != i} exp(sim_ik / tau) ), sim the cosine, gamma the r-th
power of the normalised adjacency with self-loops; a vertex without a neighbour in the batch contributes 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import torch

from lgl_bench.core.types import FloatArray, Graph, IntArray
from lgl_bench.kernels import scale_by_ends

# Entries of an intermediate product that are held at once: about 400 MB.
_MOST_ENTRIES = 32_000_000


class Neighbourhood:
    """Entries of the r-th power of D^-1/2 (A + I) D^-1/2 between the vertices of a batch.

    The power of a small graph is computed once. On a large one it would not fit, so each batch multiplies its own
    rows, a few at a time.
    """

    def __init__(self, graph: Graph, power: int) -> None:
        n = graph.num_vertices
        ones = np.ones(graph.edges.shape[1] + n, dtype=np.float32)
        ends = np.concatenate([graph.edges, np.arange(n)[None].repeat(2, axis=0)], axis=1)
        adjacency = scipy.sparse.csr_matrix((ones, ends), shape=(n, n))
        degree = np.asarray(adjacency.sum(axis=1)).reshape(-1)
        scale = scipy.sparse.diags(1.0 / np.sqrt(degree))
        self.adjacency: Any = (scale @ adjacency @ scale).tocsr().astype(np.float32)
        self.power = power
        self.reach = _reach(self.adjacency, max(power - 1, 1))
        self._whole: Any = None
        if power == 1 or _reach(self.adjacency, power).sum() <= _MOST_ENTRIES:
            self._whole = self.adjacency
            for _ in range(power - 1):
                self._whole = self._whole @ self.adjacency

    def between(self, batch: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Gamma of the batch without its diagonal: rows, columns, entries."""
        if self._whole is not None:
            gamma = self._whole[batch][:, batch]
        else:
            columns = self.adjacency[:, batch].tocsr()
            gamma = scipy.sparse.vstack([self._rows(rows, columns) for rows in self._chunks(batch)])
        gamma = gamma.tocoo()
        off = gamma.row != gamma.col
        return gamma.row[off].astype(np.int64), gamma.col[off].astype(np.int64), gamma.data[off]

    def _rows(self, rows: IntArray, columns: Any) -> Any:
        """Some rows of the power, at the batch's columns; the power is at least 2 here."""
        part = self.adjacency[rows]
        for _ in range(self.power - 2):
            part = part @ self.adjacency
        return part @ columns

    def _chunks(self, batch: IntArray) -> list[IntArray]:
        """Rows of the batch in portions whose products stay within the limit."""
        portion = np.cumsum(self.reach[batch]) // _MOST_ENTRIES
        return [batch[portion == p] for p in np.unique(portion)]


def _reach(adjacency: Any, steps: int) -> FloatArray:
    """At most this many vertices are within so many steps of each vertex: paths of that length."""
    links = (adjacency != 0).astype(np.float64)
    reach = np.ones(adjacency.shape[0])
    for _ in range(steps):
        reach = np.minimum(links @ reach, adjacency.shape[0])
    return reach


class _Contrast(torch.autograd.Function):
    """The loss in closed form: one pass over the similarities forward, one back."""

    @staticmethod
    def forward(
        ctx: Any, unit: torch.Tensor, row: torch.Tensor, col: torch.Tensor, gamma: torch.Tensor, tau: float
    ) -> torch.Tensor:
        e = torch.exp_((unit / tau) @ unit.T)
        e.fill_diagonal_(0.0)
        below = e.sum(dim=1)
        at = row * len(unit) + col
        weighted = gamma * torch.take(e, at)
        above = torch.zeros_like(below).index_add_(0, row, weighted)
        counts = above > 0
        losses = torch.where(counts, below.log() - above.clamp_min(1e-38).log(), 0.0)
        ctx.save_for_backward(unit, below, above, weighted, row, col, counts)
        ctx.tau, ctx.e = tau, e
        return losses.sum() / len(unit)

    @staticmethod
    def backward(ctx: Any, outer: torch.Tensor) -> Any:
        unit, below, above, weighted, row, col, counts = ctx.saved_tensors
        scale = counts / (ctx.tau * len(unit)) * outer
        # d loss / d sim_ij = scale_i (e_ij / below_i - gamma_ij e_ij / above_i), and as sim_ij depends on both ends its
        # transpose is added: e is symmetric, which leaves one product. All of it in the place of e, the one large
        # matrix: clearing a second one costs more than filling it. So there is no second backward pass.
        grad, ctx.e = ctx.e, None
        share = scale / below
        scale_by_ends(grad, share)
        near = -weighted * (scale / above.clamp_min(1e-38))[row]
        grad.view(-1).index_add_(0, row * len(unit) + col, near).index_add_(0, col * len(unit) + row, near)
        return grad @ unit, None, None, None, None


def contrastive_loss(
    z: torch.Tensor, row: torch.Tensor, col: torch.Tensor, gamma: torch.Tensor, tau: float
) -> torch.Tensor:
    """The loss of a batch, averaged over it.

    Args:
        z: (B, d) embeddings.
        row: First index of each entry of gamma; entries are distinct and off the diagonal.
        col: Second index.
        gamma: The entries.
        tau: Temperature.
    """
    unit = torch.nn.functional.normalize(z, dim=1)
    return _Contrast.apply(unit, row, col, gamma, tau)  # type: ignore[no-any-return,no-untyped-call]
