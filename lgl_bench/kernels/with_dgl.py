"""The kernels as DGL computes them, where it can be installed."""

from __future__ import annotations

from typing import Any

import dgl
import dgl.ops
import torch
from dgl.nn.functional import edge_softmax

from lgl_bench.kernels.arcs import Arcs
from lgl_bench.kernels.plain import dropout, scale_by_ends
from lgl_bench.kernels.random_bits import kept_shares

__all__ = ["attention", "dropout", "neighbour_sum", "scale_by_ends", "weighted_sum"]


def neighbour_sum(arcs: Arcs, h: torch.Tensor) -> torch.Tensor:
    """See `kernels.neighbour_sum`."""
    if not arcs.num_arcs:
        return _nothing(arcs, h)
    return dgl.ops.copy_u_sum(_graph(arcs), h.contiguous())  # type: ignore[no-any-return]


def weighted_sum(arcs: Arcs, h: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """See `kernels.weighted_sum`."""
    if not arcs.num_arcs:
        return _nothing(arcs, h) + 0.0 * weights.sum()
    return dgl.ops.u_mul_e_sum(_graph(arcs), h.contiguous(), weights[:, None])  # type: ignore[no-any-return]


def attention(arcs: Arcs, product: torch.Tensor, heads: int, slope: float, drop: tuple[int, int]) -> torch.Tensor:
    """See `kernels.attention`."""
    width = product.shape[1] // heads - 2
    messages, source, target = torch.split(product, [heads * width, heads, heads], dim=1)
    if not arcs.num_arcs:
        return _nothing(arcs, messages)
    graph = _graph(arcs)
    scores = dgl.ops.u_add_v(graph, source.contiguous(), target[: arcs.num_targets].contiguous())
    share = edge_softmax(graph, torch.nn.functional.leaky_relu(scores, slope))
    share = share * kept_shares(drop, (arcs.num_arcs, heads), product.device)
    sent = messages.reshape(-1, heads, width)
    return dgl.ops.u_mul_e_sum(graph, sent, share[:, :, None]).flatten(1)  # type: ignore[no-any-return]


def _nothing(arcs: Arcs, h: torch.Tensor) -> torch.Tensor:
    """Zero for every target, with the gradient of nothing."""
    return h.new_zeros(arcs.num_targets, h.shape[1]) + 0.0 * h.sum()


def _graph(arcs: Arcs) -> Any:
    """The arcs as a graph of two kinds of vertices, made on first use; its edges are in the order of the arcs."""
    if "dgl" not in arcs.prepared:
        # DGL's blocked products need the numbers of edges, though they are in order.
        parts = (arcs.starts, arcs.sources.long(), torch.arange(arcs.num_arcs, device=arcs.device))
        sizes = {"source": arcs.num_sources, "target": arcs.num_targets}
        arcs.prepared["dgl"] = dgl.heterograph({("source", "to", "target"): ("csc", parts)}, num_nodes_dict=sizes)
    return arcs.prepared["dgl"]
