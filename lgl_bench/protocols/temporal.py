"""Train on everything up to a year, answer for the vertices born in the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Snapshot, Task, Truth
from lgl_bench.protocols import Protocol, protocols
from lgl_bench.streams.start import propose_start
from lgl_bench.streams.stream import Stream, time_text


@protocols.register("temporal")
class Temporal(Protocol):
    """One task for each year t from t0 on but the last: learn up to t, score what the next existing year brings.

    The first task is for choosing (role "validation"). Known are the classes with a label that has arrived by
    t. Calibration comes from the answers of the task before: the vertices of year t as the model trained up to
    the year before scored them.

    Args:
        history: Years of training and test graph that are kept, counted in years that exist; None keeps all.
        label_delay: Years until a vertex's label arrives.
    """

    split = "temporal"
    chained = True

    def __init__(self, history: int | None = None, label_delay: int = 0) -> None:
        if history is not None and history < 1:
            raise UsageError(f"history = {history}: at least the last year must be kept; leave it out to keep all")
        if label_delay < 0:
            raise UsageError(f"label_delay = {label_delay}: labels cannot arrive before their vertices")
        self.history = history
        self.label_delay = label_delay

    def tasks(self, stream: Stream, seed: int) -> Iterator[tuple[Task, Truth]]:
        """One task a year; the seed plays no role, because nothing is drawn."""
        t0 = stream.info.t0
        if t0 is None or stream.static:
            start = propose_start(stream)
            proposed = f"--t0 {time_text(start.t0, stream.info.unit)}" if start else "--t0"
            raise UsageError(
                f"the temporal protocol needs years and a t0, which {stream.name} does not have; "
                f"import it with {proposed}, or use the leave-class-out protocol"
            )
        if stream.index(t0) == len(stream.times) - 1:
            raise UsageError(f"t0 = {t0} is the last year of {stream.name}: there is nothing left to score")
        for i in range(stream.index(t0), len(stream.times) - 1):
            yield self._task(stream, i, "validation" if i == stream.index(t0) else "test")

    def _task(self, stream: Stream, i: int, role: Literal["validation", "test"]) -> tuple[Task, Truth]:
        year, next_year = stream.times[i], stream.times[i + 1]
        since = None if self.history is None else stream.times[max(0, i + 1 - self.history)]
        arrived = year - self.label_delay  # the last year whose labels are there
        train = _hide_labels(stream.upto(year, since), arrived)
        test = stream.upto(next_year, since)
        scored = np.flatnonzero((test.born == next_year) & (test.labels >= 0))
        task = Task(
            time=next_year,
            role=role,
            fold="",
            train=train,
            fit_mask=train.labels >= 0,
            calibration=None,
            test=test.graph,
            scored=scored,
            known=stream.known_at(arrived),
            trained=np.flatnonzero(train.labels >= 0),  # the training graph is a prefix of the test graph
        )
        return task, Truth(test.labels[scored], test.first + scored)


def _hide_labels(snapshot: Snapshot, arrived: int) -> Snapshot:
    late = snapshot.born > arrived
    return replace(snapshot, labels=np.where(late, -1, snapshot.labels)) if late.any() else snapshot
