"""Neighbour sampling: the same draw whatever computes it, because it depends on a seed and a place alone."""

from __future__ import annotations

import torch

from lgl_bench.core.types import IntArray
from lgl_bench.kernels.arcs import Arcs


def sample_arcs(arcs: Arcs, vertices: IntArray, fanout: int, place: IntArray) -> tuple[Arcs, IntArray]:
    """At most `fanout` arcs into each vertex, drawn uniformly without repetition; torch's generator gives the seed.

    Args:
        arcs: Of the whole graph, on the CPU.
        vertices: The targets.
        fanout: Arcs kept per target; all of them if there are fewer.
        place: (sources,) of -1, which is how it is left: memory that many draws share.

    Returns:
        The arcs between places in the vertices read, and these vertices: first the targets, then whoever else is read.
    """
    from lgl_bench.kernels.loops import sample

    seed = int(torch.randint(2**62, ()))
    starts, sources, read = sample(arcs.starts.numpy(), arcs.sources.numpy(), vertices, fanout, seed, place)
    return Arcs(torch.from_numpy(starts), torch.from_numpy(sources), len(read), sampled=True), read
