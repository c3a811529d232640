"""A constant sparse matrix times a dense one, differentiable in the dense one.

For matrices that are multiplied only once or twice, as those of a batch: DGL is as fast once it has prepared a graph,
but preparing one costs several products. One core computes it whatever the number of threads, so sums do not change.
"""

from __future__ import annotations

from typing import Any

import torch


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Any, dense: torch.Tensor) -> torch.Tensor:
        ctx.matrix = matrix
        return torch.from_numpy(matrix @ dense.detach().numpy())

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return None, torch.from_numpy(ctx.matrix.T @ grad.numpy())


def times(matrix: Any, dense: torch.Tensor) -> torch.Tensor:
    """The product of a scipy CSR matrix and a tensor on the CPU."""
    return _Product.apply(matrix, dense)  # type: ignore[no-any-return,no-untyped-call]
