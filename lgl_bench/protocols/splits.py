"""Which vertices of a static graph train, validate and test."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import UsageError
from lgl_bench.core.seeds import generator
from lgl_bench.core.types import IntArray
from lgl_bench.streams.stream import Stream

TRAIN, VALIDATION, TEST = 1, 2, 3
SPLITS = ("60-20-20", "planetoid")


def split_of(stream: Stream, split: str, seed: int) -> npt.NDArray[np.int8]:
    """Codes of the split by that name, for every vertex; 0 takes no part."""
    if split == "60-20-20":
        return stratified(stream.labels, seed)
    if split != "planetoid":
        raise UsageError(f"unknown split '{split}'; there are {' and '.join(SPLITS)}")
    if stream.split is None:
        raise UsageError(f"{stream.name} has no published split; use 60-20-20")
    return np.where(stream.labels >= 0, stream.split, 0).astype(np.int8)


def stratified(labels: IntArray, seed: int) -> npt.NDArray[np.int8]:
    """Each class shuffled and cut at 60 % and 80 %, rounded down; a vertex without a label takes no part.

    >>> np.bincount(stratified(np.zeros(7, dtype=np.int64), seed=0)).tolist()
    [0, 4, 1, 2]
    """
    rng = generator(seed, "split")
    codes = np.zeros(len(labels), dtype=np.int8)
    for k in np.unique(labels[labels >= 0]):
        members = rng.permutation(np.flatnonzero(labels == k))
        first, second = 6 * len(members) // 10, 8 * len(members) // 10
        codes[members[:first]] = TRAIN
        codes[members[first:second]] = VALIDATION
        codes[members[second:]] = TEST
    return codes
