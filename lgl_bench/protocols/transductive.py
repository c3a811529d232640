"""Plain vertex classification: every class known, the whole graph seen in training, test labels apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Snapshot, Task, Truth
from lgl_bench.protocols import Protocol, protocols
from lgl_bench.protocols.splits import SPLITS, TEST, TRAIN, VALIDATION, split_of
from lgl_bench.streams.stream import Stream


@protocols.register("transductive")
class Transductive(Protocol):
    """One task: train on the train vertices of the whole graph, score its test vertices; no class is new.

    Args:
        split: "planetoid" or "60-20-20".
    """

    track = "transductive"

    def __init__(self, split: str = "planetoid") -> None:
        if split not in SPLITS:
            raise UsageError(f"unknown split '{split}'; there are {' and '.join(SPLITS)}")
        self.split = split

    def tasks(self, stream: Stream, seed: int) -> Iterator[tuple[Task, Truth]]:
        """The one task."""
        codes = split_of(stream, self.split, seed)
        graph = stream.upto(stream.times[-1]).graph
        labels = np.where(np.isin(codes, (TRAIN, VALIDATION)), stream.labels, -1)
        fit_mask = codes == TRAIN
        scored = np.flatnonzero(codes == TEST)
        task = Task(
            time=stream.times[-1],
            role="test",
            fold="",
            train=Snapshot(stream.times[-1], graph, labels),
            fit_mask=fit_mask,
            calibration=np.flatnonzero(codes == VALIDATION),
            test=graph,
            scored=scored,
            known=np.unique(labels[fit_mask]),
            trained=np.flatnonzero(fit_mask),
        )
        yield task, Truth(stream.labels[scored], scored)
