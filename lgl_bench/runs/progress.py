"""What a run reports while it goes on: events for progress bars and logs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from lgl_bench.plans.fits import Unit
from lgl_bench.runs.answer_columns import AnswerColumns
from lgl_bench.runs.orders import Order

Kind: TypeAlias = Literal["start", "epoch", "done", "failed"]


@dataclass(slots=True)
class Counts:
    """How a run goes.

    Attributes:
        units: Units there are to do.
        done: Units that have ended.
        failed: What failed, with the reason.
        busy_seconds: Spent training and scoring, all workers together.
    """

    units: int = 0
    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    busy_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        kind: A unit was started, is being fitted, has ended well, or has failed in whole or in part.
        unit: Which.
        done: Units that have ended.
        total: Units there are to do.
        failed: Failures so far.
        epoch: Of the fit under way; 0 if it is not known.
        seconds: What the unit took to train and score, if it has ended.
        reason: Why it failed.
        best: The best method so far on the unit's stream, with its metric; empty if there is none.
    """

    kind: Kind
    unit: Unit
    done: int
    total: int
    failed: int = 0
    epoch: int = 0
    seconds: float = 0.0
    reason: str = ""
    best: str = ""

    def record(self) -> dict[str, str | int | float]:
        """The event as plain values, for a log."""
        chain = self.unit.chain
        return {
            "event": self.kind,
            "key": self.unit.key,
            "stream": chain.stream,
            "strategy": chain.strategy.name,
            "backbone": chain.shown_backbone,
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


class BestSoFar(Protocol):
    """Keeps the best method of a run for its progress; grading knows how."""

    def add(self, unit: Unit, answers: AnswerColumns, known: list[int]) -> None:
        """Takes the answers of a unit in."""

    def on(self, stream: str) -> str:
        """The best method on a stream, with its value."""


class Reporter:
    """Reports events to a listener, with the progress of the run.

    Args:
        counts: Of the run.
        listener: Called with every event; None for nobody.
        best: Keeps the best method so far.
    """

    def __init__(self, counts: Counts, listener: Listener | None, best: BestSoFar | None) -> None:
        self._counts, self._listener, self._best = counts, listener, best

    def report(self, kind: Kind, unit: Unit, *, epoch: int = 0, seconds: float = 0.0, reason: str = "") -> None:
        """Reports an event."""
        if self._listener is None:
            return
        best = self._best.on(unit.chain.stream) if self._best is not None else ""
        counts = self._counts
        event = Event(kind, unit, counts.done, counts.units, len(counts.failed), epoch, seconds, reason, best)
        self._listener(event)

    def epoch(self, order: Order, epoch: int) -> None:
        """Reports the epoch that the fit of an order has reached."""
        self.report("epoch", order.unit, epoch=epoch)
