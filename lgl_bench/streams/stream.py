"""A stream: a graph that grows year by year, held as arrays sorted so that a snapshot is a prefix.

Vertices are sorted by (year of birth, id), edges by the year they become visible, which is the later of
their two ends. "The graph up to year t" is then a slice of every array: no copy, no subgraph search, no
relabelling.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import UsageError
from lgl_bench.core.graph_libraries import Convertible
from lgl_bench.core.types import Features, Graph, IntArray, Snapshot, Sparse, feature_rows, flag_arrays
from lgl_bench.streams.lookup import distinct_pairs

SPLIT_NAMES = ("none", "train", "validation", "test")
"""Names behind the codes of a published split."""
Unit: TypeAlias = Literal["year", "month"]
"""What a time counts: years, or months, numbered 12 * year + month - 1 so that they follow each other."""


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """What is known about a stream besides its arrays.

    Attributes:
        name: The stream's own name; a twin never carries the name of its original.
        t0: The last year of the first training task; None for a static graph.
        class_names: Name of each class id.
        imported: Counts from the import: edge lines read, self-loops and repeats dropped.
        unit: What its times count.
        notes: What the import has to say: which columns it took for what, and what it ignored.
    """

    name: str
    source: str = ""
    licence: str = ""
    citation: str = ""
    t0: int | None = None
    class_names: tuple[str, ...] = ()
    imported: dict[str, int] = field(default_factory=dict)
    unit: Unit = "year"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stream(Convertible):
    """A whole stream in memory.

    Attributes:
        info: Name, source, licence, t0, class names.
        ids: Vertex ids as the source numbers them.
        born: Year of birth of each vertex, ascending.
        labels: Global class ids, -1 if a vertex has none.
        features: One row per vertex.
        arcs: (2, 2m): arcs 2k and 2k+1 are the two directions of edge k, by vertex position.
        split: Code of a published split per vertex (see `SPLIT_NAMES`), or None.
        times: The years that exist, ascending.
        vertex_ends: Number of vertices born up to each of `times`.
        edge_ends: Number of edges visible up to each of `times`.
        names: Name of each vertex, such as a DOI, if the source has names instead of numbers.
    """

    info: StreamInfo
    ids: IntArray
    born: IntArray
    labels: IntArray
    features: Features
    arcs: IntArray
    split: npt.NDArray[np.int8] | None
    times: tuple[int, ...]
    vertex_ends: tuple[int, ...]
    edge_ends: tuple[int, ...]
    names: npt.NDArray[np.object_] | None = None

    def __post_init__(self) -> None:
        flag_arrays(self)

    @property
    def name(self) -> str:
        """The stream's name."""
        return self.info.name

    @property
    def num_vertices(self) -> int:
        """Vertices in all."""
        return len(self.ids)

    @property
    def num_edges(self) -> int:
        """Undirected edges in all."""
        return int(self.arcs.shape[1]) // 2

    @property
    def num_classes(self) -> int:
        """Class ids run from 0 to this number, exclusive."""
        return len(self.info.class_names)

    @property
    def static(self) -> bool:
        """Whether there is only one time step."""
        return len(self.times) == 1

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        held = [self.ids, self.born, self.labels, self.features, self.arcs]
        return sum(array.nbytes for array in held) + (0 if self.split is None else self.split.nbytes)

    def index(self, time: int) -> int:
        """Position of the last existing year not after `time`."""
        found = int(np.searchsorted(self.times, time, side="right")) - 1
        if found < 0:
            raise UsageError(f"{self.name} begins in {self.times[0]}; there is nothing up to {time}")
        return found

    def upto(self, time: int, since: int | None = None) -> Snapshot:
        """The graph of every vertex born up to `time`, and from `since` on if that is given.

        Without `since` nothing is copied: every array is a slice.
        """
        at = self.index(time)
        last = self.vertex_ends[at]
        arcs = self.arcs[:, : 2 * self.edge_ends[at]]
        first = 0
        if since is not None and since > self.times[0]:
            first = int(np.searchsorted(self.born[:last], since, side="left"))
            arcs = arcs[:, (arcs >= first).all(axis=0)] - first
        return Snapshot(
            time=self.times[at],
            graph=Graph(feature_rows(self.features, first, last), arcs, last - first, self.born[first:last]),
            labels=self.labels[first:last],
            first=first,
        )

    def known_at(self, time: int) -> IntArray:
        """Classes with a labelled vertex up to `time`, ordered by birth, then id: later ones are appended."""
        return np.array([k for k, year in self.class_births().items() if year <= time], dtype=np.int64)

    def class_births(self) -> dict[int, int]:
        """Year in which each class is first seen, ordered by that year, then class id."""
        labelled = np.flatnonzero(self.labels >= 0)
        classes, where = np.unique(self.labels[labelled], return_index=True)
        births = self.born[labelled[where]]
        order = np.lexsort((classes, births))
        return {int(classes[i]): int(births[i]) for i in order}

    def _exported(self) -> tuple[Graph, dict[str, npt.NDArray[Any]]]:
        return self.upto(self.times[-1]).graph, {"time": self.born, "label": self.labels, "id": self.ids}


def assemble(
    info: StreamInfo,
    ids: IntArray,
    born: IntArray,
    labels: IntArray,
    features: Features,
    edges: IntArray,
    split: npt.NDArray[np.int8] | None = None,
    names: npt.NDArray[np.object_] | None = None,
) -> Stream:
    """Sorts clean vertices and edges into a stream.

    Args:
        info: Name and facts.
        ids: Distinct vertex ids, in any order; the other vertex arrays follow it.
        born: Year of birth.
        labels: Class ids or -1.
        features: One row per vertex.
        edges: (2, m) row numbers into `ids`; self-loops and repeats are dropped.
        split: Codes of a published split.
        names: Names of the vertices, if they have some.
    """
    order = np.lexsort((ids, born))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    sorted_born = born[order]
    # Positions ascend with birth, so the later end of an edge is the one with the greater position, and
    # sorting by it sorts by the year the edge becomes visible.
    codes = distinct_pairs(place[edges[0]], place[edges[1]], len(ids))
    del edges
    arcs = np.empty((2, 2 * len(codes)), dtype=np.int64)
    arcs[0, 0::2] = arcs[1, 1::2] = codes // len(ids)
    arcs[1, 0::2] = arcs[0, 1::2] = codes % len(ids)
    visible = sorted_born[arcs[0, 0::2]]
    times = np.unique(sorted_born)
    return Stream(
        info=info,
        ids=ids[order],
        born=sorted_born,
        labels=labels[order],
        features=reorder(features, order),
        arcs=arcs,
        split=None if split is None else split[order],
        times=tuple(times.tolist()),
        vertex_ends=tuple(np.searchsorted(sorted_born, times, side="right").tolist()),
        edge_ends=tuple(np.searchsorted(visible, times, side="right").tolist()),
        names=None if names is None else names[order],
    )


def reorder(features: Features, order: IntArray) -> Features:
    """Rows of `features` in the given order."""
    if not isinstance(features, Sparse):
        return features if np.array_equal(order, np.arange(len(features))) else features[order]
    lengths = np.diff(features.indptr)[order]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    take = np.arange(indptr[-1]) + np.repeat(features.indptr[:-1][order] - indptr[:-1], lengths)
    return Sparse(indptr, features.indices[take], features.values[take], features.columns)


def time_text(time: int, unit: Unit) -> str:
    """A time as people write it.

    >>> time_text(2014, "year"), time_text(12 * 2014 + 4, "month")
    ('2014', '2014-05')
    """
    return str(time) if unit == "year" else f"{time // 12:04d}-{time % 12 + 1:02d}"


def same(left: Stream, right: Stream) -> bool:
    """Whether two streams hold the same arrays."""
    return all(_equal(getattr(left, f.name), getattr(right, f.name)) for f in fields(left) if f.name != "info")


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Sparse) and isinstance(right, Sparse):
        return all(_equal(getattr(left, f.name), getattr(right, f.name)) for f in fields(left))
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    return bool(type(left) is type(right) and left == right)
