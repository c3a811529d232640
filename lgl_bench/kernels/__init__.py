"""Kernels: the few sparse operations that everything is built on, with gradients.

Three implementations are held to each other and to a dense reference by tests: `native` (compiled loops, on the CPU),
`torch` (torch's own operations, on any device) and `dgl`. `choice` says which computes. Backbones import these
functions and nothing else for message passing.
"""

from __future__ import annotations

import torch

from lgl_bench.kernels.arcs import Arcs, Outgoing, arc_ends, arcs_at_two_hops, arcs_between, take_arcs
from lgl_bench.kernels.choice import kernel_name, kernels_on
from lgl_bench.kernels.hops import hop_sums
from lgl_bench.kernels.random_bits import draw_seed
from lgl_bench.kernels.sampling import sample_arcs
from lgl_bench.kernels.threads import set_thread_count, thread_count

__all__ = [
    "Arcs",
    "Outgoing",
    "arc_ends",
    "arcs_at_two_hops",
    "arcs_between",
    "attention",
    "dropout",
    "hop_sums",
    "kernel_name",
    "neighbour_mean",
    "neighbour_sum",
    "sample_arcs",
    "scale_by_ends",
    "set_thread_count",
    "take_arcs",
    "thread_count",
    "weighted_sum",
]


def neighbour_sum(arcs: Arcs, h: torch.Tensor) -> torch.Tensor:
    """Sum of h[u] over the arcs u -> v, for every target v; zero if there is none.

    Args:
        arcs: From the rows of h to the targets.
        h: (sources, columns).
    """
    found: torch.Tensor = kernels_on(h.device.type).neighbour_sum(arcs, h)
    return found


def neighbour_mean(arcs: Arcs, h: torch.Tensor) -> torch.Tensor:
    """Mean of h[u] over the arcs u -> v, for every target v; zero if there is none."""
    return neighbour_sum(arcs, h) * arcs.shares


def weighted_sum(arcs: Arcs, h: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Sum of w h[u] over the arcs u -> v of weight w, for every target v; gradients flow into h and the weights.

    Args:
        arcs: From the rows of h to the targets.
        h: (sources, columns).
        weights: One per arc, in their order.
    """
    found: torch.Tensor = kernels_on(h.device.type).weighted_sum(arcs, h, weights)
    return found


def attention(arcs: Arcs, product: torch.Tensor, heads: int, slope: float = 0.2, dropped: int = 0) -> torch.Tensor:
    """Messages weighted by attention: (targets, heads * width), the heads side by side.

    For every head, the sum of s_uv message[u] over the arcs u -> v; s is the softmax over the arcs into v of
    LeakyReLU(source[u] + target[v]), and dropout in training sets some of it to zero and scales the rest.

    Args:
        arcs: From the rows of `product` to the targets, which are the first of them.
        product: (sources, heads * width + 2 * heads): messages of all heads, their scores as a source, and as a target.
        heads: Number of heads.
        slope: Of the leaky ReLU, at most 1.
        dropped: How many of 65,536 are dropped; 0 outside training.
    """
    drop = (draw_seed() if dropped else 0, dropped)
    found: torch.Tensor = kernels_on(product.device.type).attention(arcs, product, heads, slope, drop)
    return found


def dropout(x: torch.Tensor, dropped: int, relu: bool = False) -> torch.Tensor:
    """Units that are kept, scaled up to keep the mean, the others 0; after a ReLU if asked for.

    Args:
        x: Any shape.
        dropped: How many of 65,536 units are dropped.
        relu: Whether units below 0 are 0 too.
    """
    found: torch.Tensor = kernels_on(x.device.type).dropout(x, (draw_seed(), dropped), relu)
    return found


def scale_by_ends(matrix: torch.Tensor, shares: torch.Tensor) -> None:
    """Multiplies entry (i, j) of a square matrix with shares[i] + shares[j], in its place."""
    kernels_on(matrix.device.type).scale_by_ends(matrix, shares)
