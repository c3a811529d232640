"""Open-world learning on a static graph: one class after the other is left out and has to be noticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Snapshot, Task, Truth
from lgl_bench.protocols import Protocol, protocols
from lgl_bench.protocols.splits import SPLITS, TEST, TRAIN, VALIDATION, split_of
from lgl_bench.protocols.subgraph import induced
from lgl_bench.streams.stream import Stream


@protocols.register("leave-class-out")
class LeaveClassOut(Protocol):
    """For every class k: train without k and without the test vertices, then score the test vertices, k's included.

    Args:
        split: "60-20-20", drawn per seed and stratified by class, or the published "planetoid" split.
        nested: Before each class's own task, yield tasks for choosing (role "validation") in which a second
            class j is hidden from training too and the validation vertices, j's included, are scored.
    """

    def __init__(self, split: str = "60-20-20", nested: bool = False) -> None:
        if split not in SPLITS:
            raise UsageError(f"unknown split '{split}'; there are {' and '.join(SPLITS)}")
        self.split = split
        self.nested = nested

    def tasks(self, stream: Stream, seed: int) -> Iterator[tuple[Task, Truth]]:
        """One task for each class left out."""
        if not stream.static:
            raise UsageError(
                f"the leave-class-out protocol is for static graphs; {stream.name} has "
                f"{len(stream.times)} years: use the temporal protocol"
            )
        codes = split_of(stream, self.split, seed)
        classes = np.unique(stream.labels[stream.labels >= 0]).tolist()
        for k in classes:
            if self.nested:
                for j in classes:
                    if j != k:
                        yield _task(stream, codes, (k, j), "validation")
            yield _task(stream, codes, (k,), "test")


def _task(
    stream: Stream,
    codes: npt.NDArray[np.int8],
    hidden: tuple[int, ...],
    role: Literal["validation", "test"],
) -> tuple[Task, Truth]:
    """Trains without the hidden classes; the last of them is the one to be noticed."""
    whole = stream.upto(stream.times[-1]).graph
    out = np.isin(stream.labels, hidden)
    graph, vertices = induced(whole, (codes != TEST) & ~out)
    labels = np.where(codes[vertices] > 0, stream.labels[vertices], -1)
    fit_mask = codes[vertices] == TRAIN
    if role == "test":
        test, scored, kept = whole, np.flatnonzero(codes == TEST), np.arange(stream.num_vertices)
    else:
        # The graph of a validation task knows neither the test vertices nor the class of the outer fold.
        test, kept = induced(whole, (codes != TEST) & (stream.labels != hidden[0]))
        scored = np.flatnonzero(codes[kept] == VALIDATION)
    task = Task(
        time=stream.times[-1],
        role=role,
        fold="/".join(str(k) for k in hidden),
        train=Snapshot(stream.times[-1], graph, labels),
        fit_mask=fit_mask,
        calibration=np.flatnonzero(codes[vertices] == VALIDATION),
        test=test,
        scored=scored,
        known=np.unique(labels[fit_mask]),
        trained=np.searchsorted(kept, vertices[fit_mask]),
    )
    return task, Truth(stream.labels[kept[scored]], kept[scored])
