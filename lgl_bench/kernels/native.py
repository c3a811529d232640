"""Our own kernels on the CPU: compiled loops with gradients, each row summed by one thread, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from lgl_bench.kernels import loops
from lgl_bench.kernels.arcs import Arcs
from lgl_bench.kernels.threads import in_ranges, in_threads

# Up to this many sums, the way back adds to them arc by arc: they stay in the cache, and no arc is sorted anew.
_MAX_SCATTERED = 1 << 20
# The way back through attention adds to the scores of targets, for ranges of sources of about so many arcs each.
_RANGE, _MAX_RANGES = 100_000, 8
_DTYPES = {"float32": torch.float32, "float64": torch.float64}


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, arcs: Arcs, h: torch.Tensor) -> torch.Tensor:
        ctx.arcs = arcs
        return _rows(loops.sums, arcs.starts, arcs.num_targets, h.shape[1], _np(arcs.sources), _np(h))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        arcs, grad = ctx.arcs, grad.contiguous()
        if _scatters(arcs, grad):
            return None, _scatter(loops.scattered_sums, arcs, _np(grad))
        begins, targets, _ = arcs.outgoing
        return None, _rows(loops.sums, begins, arcs.num_sources, grad.shape[1], _np(targets), _np(grad))


class _WeightedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, arcs: Arcs, h: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        ctx.arcs = arcs
        ctx.save_for_backward(h, weights)
        parts = (_np(arcs.sources), _np(weights), _np(h))
        return _rows(loops.weighted_sums, arcs.starts, arcs.num_targets, h.shape[1], *parts)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        arcs, (h, weights), grad = ctx.arcs, ctx.saved_tensors, grad.contiguous()
        to_h = to_weights = None
        if ctx.needs_input_grad[1]:
            if _scatters(arcs, grad):
                to_h = _scatter(loops.scattered_weighted_sums, arcs, _np(weights), _np(grad))
            else:
                begins, targets, places = arcs.outgoing
                parts = (_np(targets), _np(places), _np(weights), _np(grad))
                if ctx.needs_input_grad[2]:
                    # Both in one walk: what is far away, the gradients, is read once.
                    to_h, to_weights = torch.empty_like(h), torch.empty_like(weights)
                    made = (_np(h), _np(to_h), _np(to_weights))
                    in_threads(loops.placed_sums_and_products, (_np(begins), *parts, *made), _np(begins))
                    return None, to_h, to_weights
                to_h = _rows(loops.placed_sums, begins, arcs.num_sources, grad.shape[1], *parts)
        if ctx.needs_input_grad[2]:
            to_weights = torch.empty_like(weights)
            starts = _np(arcs.starts)
            along = (starts, _np(arcs.sources), _np(h), _np(grad), _np(to_weights))
            in_threads(loops.products_along, along, starts)
        return None, to_h, to_weights


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, arcs: Arcs, product: torch.Tensor, heads: int, slope: float, drop: tuple[int, int]) -> Any:
        width = product.shape[1] // heads - 2
        out = product.new_empty(arcs.num_targets, heads * width)
        peak, total = product.new_empty(2, arcs.num_targets, heads)
        settings = (heads, np.float32(slope), np.int64(drop[0]), drop[1])
        starts = _np(arcs.starts)
        parts = (starts, _np(arcs.sources), _np(product), *settings, _np(out), _np(peak), _np(total))
        in_threads(loops.attention, parts, starts)
        ctx.arcs, ctx.settings = arcs, settings
        ctx.save_for_backward(product, out, peak, total)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        arcs, settings, grad = ctx.arcs, ctx.settings, grad.contiguous()
        product, out, peak, total = ctx.saved_tensors
        heads = settings[0]
        starts = _np(arcs.starts)
        inner = torch.empty_like(peak)
        in_threads(loops.row_products, (_np(grad), _np(out), heads, _np(inner)), starts)
        begins, targets, places = (_np(part) for part in arcs.outgoing)
        to_product, to_target = torch.empty_like(product), torch.zeros_like(peak)
        known = (_np(product), *settings, _np(peak), _np(total), _np(grad), _np(inner))
        parts = (begins, targets, places, *known, _np(to_product))

        def back(first: int, last: int) -> torch.Tensor:
            part = torch.zeros_like(to_target)
            loops.attention_backward(*parts, _np(part), first, last)
            return part

        for part in in_ranges(back, begins, min(max(arcs.num_arcs // _RANGE, 1), _MAX_RANGES)):
            to_target += part
        to_product[: arcs.num_targets, -heads:] = to_target
        to_product[arcs.num_targets :, -heads:] = 0.0  # what is read and not computed has no score as a target
        return None, to_product, None, None, None


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, drop: tuple[int, int], relu: bool) -> torch.Tensor:
        out = torch.empty_like(x)
        parts = (_np(x.view(-1)), np.int64(drop[0]), drop[1], relu, _np(out.view(-1)))
        in_threads(loops.dropout, parts, range(x.numel() + 1))
        ctx.drop, ctx.relu = drop, relu
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (result,), grad = ctx.saved_tensors, grad.contiguous()
        out = torch.empty_like(grad)
        settings = (np.int64(ctx.drop[0]), ctx.drop[1], ctx.relu)
        parts = (_np(grad.view(-1)), _np(result.view(-1)), *settings, _np(out.view(-1)))
        in_threads(loops.dropout_backward, parts, range(grad.numel() + 1))
        return out, None, None


def neighbour_sum(arcs: Arcs, h: torch.Tensor) -> torch.Tensor:
    """See `kernels.neighbour_sum`."""
    return _Sum.apply(arcs, h.contiguous())  # type: ignore[no-any-return,no-untyped-call]


def weighted_sum(arcs: Arcs, h: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """See `kernels.weighted_sum`."""
    return _WeightedSum.apply(arcs, h.contiguous(), weights.contiguous())  # type: ignore[no-any-return,no-untyped-call]


def attention(arcs: Arcs, product: torch.Tensor, heads: int, slope: float, drop: tuple[int, int]) -> torch.Tensor:
    """See `kernels.attention`."""
    return _Attention.apply(arcs, product.contiguous(), heads, slope, drop)  # type: ignore[no-any-return,no-untyped-call]


def dropout(x: torch.Tensor, drop: tuple[int, int], relu: bool) -> torch.Tensor:
    """See `kernels.dropout`."""
    return _Dropout.apply(x.contiguous(), drop, relu)  # type: ignore[no-any-return,no-untyped-call]


def scale_by_ends(matrix: torch.Tensor, shares: torch.Tensor) -> None:
    """See `kernels.scale_by_ends`."""
    in_threads(loops.scale_by_ends, (_np(matrix), _np(shares)), np.arange(len(matrix) + 1) * len(matrix))


def _np(tensor: torch.Tensor) -> Any:
    return tensor.detach().numpy()


def _rows(loop: Callable[..., Any], starts: torch.Tensor, rows: int, columns: int, *parts: Any) -> torch.Tensor:
    """What a loop over rows computes."""
    out = torch.empty(rows, columns, dtype=_DTYPES[parts[-1].dtype.name])
    in_threads(loop, (_np(starts), *parts, _np(out)), _np(starts))
    return out


def _scatters(arcs: Arcs, grad: torch.Tensor) -> bool:
    return arcs.sampled or arcs.num_sources * grad.shape[1] <= _MAX_SCATTERED


def _scatter(loop: Callable[..., Any], arcs: Arcs, *parts: Any) -> torch.Tensor:
    """What a loop that adds arc by arc computes; threads share its columns."""
    columns = parts[-1].shape[1]
    out = torch.zeros(arcs.num_sources, columns, dtype=_DTYPES[parts[-1].dtype.name])
    # One bound per column: each costs the same.
    bounds = np.arange(columns + 1) * arcs.num_arcs
    in_threads(loop, (_np(arcs.starts), _np(arcs.sources), *parts, _np(out)), bounds)
    return out
