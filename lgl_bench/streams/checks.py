"""What must hold of the arrays of a stream on disk, whoever wrote it: all that reads a stream builds on it.

Each check raises a `ColumnError`, the rest of a sentence about the file that the rows are from.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lgl_bench.core.parquet import ColumnError
from lgl_bench.core.types import Features, IntArray, Sparse
from lgl_bench.streams.stream import SPLIT_NAMES


def check_vertices(ids: IntArray, labels: IntArray, split: npt.NDArray[np.int8] | None, classes: int) -> None:
    """The vertices of a year: ids ascend from 0 on, labels and splits are among those there are."""
    if len(ids) and (ids[0] < 0 or (ids[1:] <= ids[:-1]).any()):
        raise ColumnError("has ids that do not ascend from 0 on")
    if len(labels) and (labels.min() < -1 or labels.max() >= classes):
        wrong = labels.min() if labels.min() < -1 else labels.max()
        raise ColumnError(f"has the label {wrong}; there are {classes} classes")
    if split is not None and len(split) and (split.min() < 0 or split.max() >= len(SPLIT_NAMES)):
        raise ColumnError(f"has a split outside 0 to {len(SPLIT_NAMES) - 1}")


def check_features(features: Features) -> None:
    """Finite numbers; sparse ones with columns that ascend within a row, and without stored zeros."""
    values = features.values if isinstance(features, Sparse) else features
    # A sum is finite unless something in it is not, or it overflows.
    if values.size and not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        raise ColumnError("has a feature that is not finite")
    if not isinstance(features, Sparse) or not len(values):
        return
    if features.indices.min() < 0 or features.indices.max() >= features.columns:
        raise ColumnError(f"has a feature index outside 0 to {features.columns - 1}")
    ascends = features.indices[1:] > features.indices[:-1]
    starts = features.indptr[1:-1]  # where a row begins, the index may fall
    ascends[starts[(starts > 0) & (starts < len(values))] - 1] = True
    if not ascends.all() or not values.all():
        raise ColumnError("has feature indices that do not ascend within a row, or a stored zero")


def check_edges(later: IntArray, earlier: IntArray, first: int, stop: int) -> None:
    """The edges of a year, as positions of their ends: the later end is of that year, and each pair is there once.

    Args:
        later: Positions of the ends that were born later, -1 for an unknown id.
        earlier: Those of the others.
        first: Position of the year's first vertex.
        stop: Position behind its last one.
    """
    if not len(later):
        return
    if min(later.min(), earlier.min()) < 0:
        raise ColumnError("has an edge to a vertex that is not in the stream")
    if (earlier >= later).any() or later.min() < first or later.max() >= stop:
        raise ColumnError("has an edge that does not go from a vertex of its year to an earlier one")
    same = later[1:] == later[:-1]
    if not ((later[1:] > later[:-1]) | (same & (earlier[1:] > earlier[:-1]))).all():
        raise ColumnError("has edges twice or out of order")
