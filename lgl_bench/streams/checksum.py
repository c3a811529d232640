"""The canonical checksum of a stream: the same whatever wrote the Parquet.

One sha256 over little-endian arrays, year by year: the year, the counts, ids, labels, the published split
if there is one, edges as pairs of ids (later end first, in stream order), and the feature rows (dense, or
CSR with ascending columns). Because it runs year by year, the state after year t is the checksum of the
prefix up to t: appending a year leaves the checksums of all earlier prefixes as they were.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from lgl_bench.core.types import Sparse
from lgl_bench.streams.stream import Stream


def prefix_checksums(stream: Stream) -> dict[int, str]:
    """Checksum of the stream up to each of its years."""
    state = hashlib.sha256()
    features = stream.features
    kind = "sparse" if isinstance(features, Sparse) else "dense"
    state.update(f"lgl-bench stream 1 {kind} {features.shape[1]} {stream.split is not None}\n".encode())
    found: dict[int, str] = {}
    v0 = e0 = 0
    for time, v1, e1 in zip(stream.times, stream.vertex_ends, stream.edge_ends, strict=True):
        state.update(f"{time} {v1 - v0} {e1 - e0}\n".encode())
        state.update(_bytes(stream.ids[v0:v1], "<i8"))
        state.update(_bytes(stream.labels[v0:v1], "<i8"))
        if stream.split is not None:
            state.update(_bytes(stream.split[v0:v1], "<i1"))
        state.update(_bytes(stream.ids[stream.arcs[:, 2 * e0 : 2 * e1 : 2]], "<i8"))
        if isinstance(features, Sparse):
            rows = features.rows(v0, v1)
            state.update(_bytes(rows.indptr, "<i8"))
            state.update(_bytes(rows.indices, "<i4"))
            state.update(_bytes(rows.values, "<f4"))
        else:
            state.update(_bytes(features[v0:v1], "<f4"))
        found[time] = state.copy().hexdigest()
        v0, e0 = v1, e1
    return found


def stream_checksum(stream: Stream) -> str:
    """Checksum of the whole stream."""
    return prefix_checksums(stream)[stream.times[-1]]


def _bytes(array: npt.NDArray[Any], dtype: str) -> Any:
    return np.ascontiguousarray(array, dtype=dtype).reshape(-1).view(np.uint8)
