"""Protocols: how a stream is cut into tasks.

A protocol yields a `Task` and, apart from it, its `Truth`: what a method gets to answer has no labels by type,
and the runner hands the Truth to metrics and to nobody else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from lgl_bench.core.registry import Registry
from lgl_bench.core.types import Task, Truth
from lgl_bench.streams.stream import Stream


class Protocol(ABC):
    """Base of every protocol.

    Attributes:
        split: Name of the split, a column of the leaderboard.
        track: "inductive", or "transductive" if test vertices take part in training without labels.
        chained: Whether tasks build on each other, so that a strategy decides what goes on from the one before;
            otherwise every task starts afresh.
    """

    split: str
    track: str = "inductive"
    chained: bool = False

    @abstractmethod
    def tasks(self, stream: Stream, seed: int) -> Iterator[tuple[Task, Truth]]:
        """The tasks of a stream, in order."""


protocols: Registry[type[Protocol]] = Registry(
    "protocol",
    "lgl_bench.protocols",
    tuple(f"lgl_bench.protocols.{name}" for name in ("temporal", "leave_class_out", "transductive")),
)
