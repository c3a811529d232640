"""The kernels in torch's own operations: what computes on a GPU, and the same on the CPU if asked for."""

from __future__ import annotations

import torch

from lgl_bench.kernels.arcs import Arcs
from lgl_bench.kernels.random_bits import kept_shares


def neighbour_sum(arcs: Arcs, h: torch.Tensor) -> torch.Tensor:
    """See `kernels.neighbour_sum`."""
    sent = h.index_select(0, arcs.sources)
    return h.new_zeros(arcs.num_targets, h.shape[1]).index_add(0, arcs.targets, sent)


def weighted_sum(arcs: Arcs, h: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """See `kernels.weighted_sum`."""
    sent = h.index_select(0, arcs.sources) * weights[:, None]
    return h.new_zeros(arcs.num_targets, h.shape[1]).index_add(0, arcs.targets, sent)


def attention(arcs: Arcs, product: torch.Tensor, heads: int, slope: float, drop: tuple[int, int]) -> torch.Tensor:
    """See `kernels.attention`."""
    width, rows = product.shape[1] // heads - 2, arcs.targets
    messages, source, target = torch.split(product, [heads * width, heads, heads], dim=1)
    scores = source.index_select(0, arcs.sources) + target.index_select(0, rows)
    scores = torch.nn.functional.leaky_relu(scores, slope)
    into = rows[:, None].expand(-1, heads)
    peak = product.new_full((arcs.num_targets, heads), -torch.inf).scatter_reduce(0, into, scores.detach(), "amax")
    raw = torch.exp(scores - peak.index_select(0, rows))
    total = product.new_zeros(arcs.num_targets, heads).index_add(0, rows, raw)
    share = raw / total.index_select(0, rows) * kept_shares(drop, (arcs.num_arcs, heads), product.device)
    sent = messages.index_select(0, arcs.sources).view(-1, heads, width) * share[:, :, None]
    return product.new_zeros(arcs.num_targets, heads * width).index_add(0, rows, sent.flatten(1))


def scale_by_ends(matrix: torch.Tensor, shares: torch.Tensor) -> None:
    """See `kernels.scale_by_ends`."""
    matrix *= shares[:, None] + shares


def dropout(x: torch.Tensor, drop: tuple[int, int], relu: bool) -> torch.Tensor:
    """See `kernels.dropout`."""
    return (torch.relu(x) if relu else x) * kept_shares(drop, x.shape, x.device)
