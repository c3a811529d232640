"""Arcs as every kernel walks over them: sorted by the vertex they lead into."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import IntArray

_MAX = 2**31 - 1
"""Places of arcs and vertices are kept in 32 bits."""
_MAX_AT_TWO_HOPS = 200_000_000
"""With the way back about 3 GB."""


class Outgoing(NamedTuple):
    """The same arcs, sorted by the vertex they come from.

    Attributes:
        begins: Where the arcs of each source begin, and where the last one's end.
        targets: Where each leads to.
        places: Its place among the arcs sorted by target.
    """

    begins: torch.Tensor
    targets: torch.Tensor
    places: torch.Tensor


class Arcs:
    """Arcs into each target: of a whole graph, of a sampled block, or from the columns of a sparse matrix to its rows.

    What a kernel returns has one row per target. In a block the targets are the first of the vertices that are read.

    Args:
        starts: Where the arcs into each target start, and where the last one's end; 64-bit integers.
        sources: Where each arc comes from; 32-bit integers.
        num_sources: Number of vertices that are read.
        sampled: Whether they are used once or twice only, so that preparing them does not pay.
    """

    def __init__(self, starts: torch.Tensor, sources: torch.Tensor, num_sources: int, sampled: bool = False) -> None:
        self.starts = starts
        self.sources = sources
        self.num_sources = num_sources
        self.sampled = sampled
        self.prepared: dict[str, Any] = {}
        """What a kernel keeps with these arcs, by its name."""
        self._outgoing: Outgoing | None = None
        self._shares: torch.Tensor | None = None

    @classmethod
    def of_edges(cls, edges: IntArray, vertices: int) -> Arcs:
        """The arcs of a graph, (2, arcs) from and to, in any order; those into a vertex keep theirs."""
        if edges.shape[1] + vertices > _MAX:
            raise DataError(f"{edges.shape[1]:,} arcs: more than {_MAX:,} are not supported")
        from lgl_bench.kernels.loops import sort_by_target

        starts, sources = sort_by_target(edges[0], edges[1], vertices)
        return cls(torch.from_numpy(starts), torch.from_numpy(sources), vertices)

    @property
    def num_targets(self) -> int:
        """Number of vertices that are computed."""
        return len(self.starts) - 1

    @property
    def num_arcs(self) -> int:
        """Number of arcs."""
        return len(self.sources)

    @property
    def device(self) -> torch.device:
        """Where the arcs are."""
        return self.sources.device

    @property
    def counts(self) -> torch.Tensor:
        """Number of arcs into each target."""
        return self.starts.diff()

    @property
    def targets(self) -> torch.Tensor:
        """Where each arc leads to."""
        rows = torch.arange(self.num_targets, device=self.device)
        return rows.repeat_interleave(self.counts, output_size=self.num_arcs)

    @property
    def shares(self) -> torch.Tensor:
        """1 / number of arcs into each target, as a column; 1 if there is none."""
        if self._shares is None:
            self._shares = (1.0 / self.counts.clamp_min(1).float())[:, None]
        return self._shares

    @property
    def outgoing(self) -> Outgoing:
        """The same arcs by source, sorted on first use."""
        if self._outgoing is None:
            from lgl_bench.kernels.loops import sort_by_source

            found = sort_by_source(self.starts.numpy(), self.sources.numpy(), self.num_sources)
            self._outgoing = Outgoing(*(torch.from_numpy(part) for part in found))
        return self._outgoing

    def with_loops(self) -> Arcs:
        """The same arcs and a self-loop at every vertex, after its others."""
        from lgl_bench.kernels.loops import with_loops

        starts, sources = with_loops(self.starts.numpy(), self.sources.numpy())
        return Arcs(torch.from_numpy(starts), torch.from_numpy(sources), self.num_sources)

    def head(self, targets: int) -> Arcs:
        """The arcs into the first targets, in the same memory."""
        starts = self.starts[: targets + 1]
        return Arcs(starts, self.sources[: int(starts[-1])], self.num_sources, self.sampled)

    def to(self, device: str) -> Arcs:
        """The same arcs on another device."""
        return Arcs(self.starts.to(device), self.sources.to(device), self.num_sources, self.sampled)


def arcs_between(arcs: Arcs, vertices: torch.Tensor) -> Arcs:
    """The arcs between some vertices, which are numbered in their order."""
    from lgl_bench.kernels.loops import between

    place = np.full(arcs.num_sources, -1, dtype=np.int64)
    starts, sources = between(arcs.starts.numpy(), arcs.sources.numpy(), vertices.numpy(), place)
    return Arcs(torch.from_numpy(starts), torch.from_numpy(sources), len(vertices), sampled=True)


def arcs_at_two_hops(arcs: Arcs) -> Arcs:
    """An arc u -> w if w can be reached from u in two steps, is not u, and is no neighbour of u.

    Raises:
        DataError: There are too many: a vertex with many neighbours joins all of them.
    """
    from lgl_bench.kernels.loops import at_two_hops

    starts, sources = at_two_hops(arcs.starts.numpy(), arcs.sources.numpy(), _MAX_AT_TWO_HOPS)
    if starts.max() > _MAX_AT_TWO_HOPS:
        raise DataError(f"more than {_MAX_AT_TWO_HOPS:,} pairs of vertices at distance two: they are not supported")
    return Arcs(torch.from_numpy(starts), torch.from_numpy(sources), arcs.num_sources)


def take_arcs(arcs: Arcs, rows: torch.Tensor, values: torch.Tensor) -> tuple[Arcs, torch.Tensor]:
    """The arcs into some targets, in this order, from the same sources, and their values."""
    from lgl_bench.kernels.loops import take_rows

    starts, sources, taken = take_rows(arcs.starts.numpy(), arcs.sources.numpy(), values.numpy(), rows.numpy())
    found = Arcs(torch.from_numpy(starts), torch.from_numpy(sources), arcs.num_sources, sampled=True)
    return found, torch.from_numpy(taken)


def arc_ends(arcs: Arcs) -> IntArray:
    """The arcs, (2, arcs) from and to, sorted by target."""
    return np.stack([arcs.sources.numpy().astype(np.int64), arcs.targets.numpy()])
