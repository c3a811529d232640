"""What a run tells while it goes on: events for progress bars and logs, and the best method so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from lgl_bench.metrics.ranking import auroc
from lgl_bench.runs.units import Unit
from lgl_bench.streams.lookup import positions
from lgl_bench.streams.stream import Stream


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        kind: A unit was started, is being fitted, has ended well, or has failed in whole or in part.
        unit: Which.
        done: Units that have ended.
        total: Units there are to do.
        failed: Failures so far.
        epoch: Of the fit at hand; 0 where it is not known.
        seconds: What the unit took to train and score, where it has ended.
        reason: Why it failed.
        best: The best method so far on the unit's stream, with its AUROC; empty where there is none.
    """

    kind: Literal["start", "epoch", "done", "failed"]
    unit: Unit
    done: int
    total: int
    failed: int = 0
    epoch: int = 0
    seconds: float = 0.0
    reason: str = ""
    best: str = ""

    def record(self) -> dict[str, Any]:
        """The event as plain values, for a log."""
        chain = self.unit.chain
        return {
            "event": self.kind,
            "key": self.unit.key,
            "stream": chain.stream,
            "backbone": chain.backbone,
            "head": chain.head,
            "seed": chain.seed,
            "time": self.unit.time,
            "fold": self.unit.fold,
            "done": self.done,
            "total": self.total,
            "failed": self.failed,
            "epoch": self.epoch,
            "epochs": chain.epochs,
            "seconds": round(self.seconds, 3),
            "reason": self.reason,
            "best": self.best,
        }


Listener = Callable[[Event], None]


class Best:
    """Keeps, for every method, the AUROC of the answers so far, each year weighted by its new vertices.

    It serves the progress bar only: the leaderboard is made from the store.
    """

    def __init__(self, streams: dict[str, Stream]) -> None:
        self.streams = streams
        self._places = {name: positions(stream.ids) for name, stream in streams.items()}
        self._sums: dict[str, dict[str, tuple[float, int]]] = {}

    def note(self, unit: Unit, answers: pd.DataFrame, known: list[int]) -> None:
        """Takes the answers of a unit in."""
        stream = unit.chain.stream
        labels = self.streams[stream].labels[self._places[stream](answers["vertex"].to_numpy())]
        new = ~np.isin(labels, known)
        for column in answers.columns:
            if str(column).startswith("novelty:"):
                value = auroc(new, answers[column].to_numpy()).value
                if value is not None:
                    name = f"{unit.chain.backbone} {str(column).removeprefix('novelty:')}"
                    total, count = self._sums.setdefault(stream, {}).get(name, (0.0, 0))
                    weight = int(new.sum())
                    self._sums[stream][name] = total + value * weight, count + weight

    def on(self, stream: str) -> str:
        """The best method on a stream."""
        means = {name: total / count for name, (total, count) in self._sums.get(stream, {}).items()}
        if not means:
            return ""
        name = max(means, key=lambda one: means[one])
        return f"{name} {means[name]:.3f}"
