"""Features from a paper's own reference list, known on the day it is published.

For graphs whose official features are not available. A paper v with the references R(v) of its own or earlier
years gets, in every dimension d,

    s1(v, d) = sum of sign(u, d) over u in R(v)          what it cites
    s2(v, d) = sum of s1(u, d) over u in R(v)            what those cite
    x(v, d)  = s1 / sqrt(n1) + s2 / sqrt(n2)             n1, n2: how many signs were added

a random projection of the cited ids (Achlioptas 2003) that uses no label and no citation of a later year.
The signs are bits of an integer hash of (u, d) and the sums are sums of integers; the division and the
square root are correctly rounded by IEEE 754: every platform gets the same features, bit for bit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import IntArray


def structure_features(
    citations: npt.NDArray[np.int64], born: IntArray, dimensions: int, edge_file: str
) -> npt.NDArray[np.float32]:
    """One row per vertex, from directed citations (citing, cited) and years of birth.

    Args:
        citations: (2, m) vertex numbers.
        born: Year of each vertex.
        dimensions: Columns of the result.
        edge_file: Where the citations come from, for messages.
    """
    n = len(born)
    bad = (citations < 0) | (citations >= n)
    if bad.any():
        line = int(np.argmax(bad.any(axis=0)))
        raise DataError(
            f"{edge_file}, line {line + 1}: the citation {citations[0, line]} - {citations[1, line]} names a "
            f"vertex that does not exist; vertices are 0 to {n - 1}"
        )
    citing, cited = citations
    causal = (born[cited] <= born[citing]) & (citing != cited)
    ones = np.ones(int(causal.sum()), dtype=np.int32)
    refers = scipy.sparse.csr_matrix((ones, (citing[causal], cited[causal])), shape=(n, n))
    refers.data[:] = 1  # a reference given twice is one reference
    n1 = np.asarray(refers.sum(axis=1)).reshape(-1)
    n2 = refers @ n1
    scale1, scale2 = (np.sqrt(np.maximum(count, 1).astype(np.float64))[:, None] for count in (n1, n2))
    out = np.empty((n, dimensions), dtype=np.float32)
    # A few columns at a time: the sums of all of them at once would double the memory of an import.
    for start in range(0, dimensions, 16):
        stop = min(start + 16, dimensions)
        s1 = refers @ signs(np.arange(n), start, stop).astype(np.int32)
        out[:, start:stop] = s1 / scale1 + (refers @ s1) / scale2
    return out


def signs(ids: IntArray, start: int, stop: int) -> npt.NDArray[np.int8]:
    """+1 or -1 for each id and each dimension from `start` to `stop`.

    A bit of splitmix64 (Steele et al. 2014) of both.

    >>> signs(np.array([0, 1]), 0, 4).tolist()
    [[-1, 1, 1, -1], [-1, -1, -1, 1]]
    """
    dimension = np.arange(start, stop, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = (ids.astype(np.uint64)[:, None] << np.uint64(20)) + dimension + np.uint64(1)
        z *= np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bit = (z ^ (z >> np.uint64(31))) >> np.uint64(63)
    return (1 - 2 * bit.astype(np.int8)).astype(np.int8)
