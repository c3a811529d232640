"""The tasks of chains, each cut from its stream once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lgl_bench.core.types import Task, Truth
from lgl_bench.plans.fits import ChainSpec, ProtocolSetting
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.stream import Stream

KEPT_TASKS = 8
"""Lists of tasks that are kept. Not all of a large plan: each task of a static stream has a graph of its own."""
_KEPT_STREAMS = 4


@dataclass(frozen=True, slots=True)
class TaskOutline:
    """What planning has to know of a task.

    Attributes:
        skipped: Why it cannot be answered; empty if it can.
    """

    index: int
    time: int
    role: str
    fold: str
    skipped: str

    @classmethod
    def of(cls, index: int, task: Task) -> TaskOutline:
        """The outline of the task with this number."""
        return cls(index, task.time, task.role, task.fold, task.skip_reason)


def learned_up_to(task: Task) -> int | None:
    """The last year with a label that is learned from; if labels arrive late, not the last year of the graph."""
    learned = task.train.born[task.fit_mask]
    return int(learned.max()) if len(learned) else None


class TaskCache:
    """Streams that were opened and tasks that were cut from them; all of it goes when its owner lets go of it.

    A run has one, which belongs to its plan, and so has every worker process, for the run it works for.

    Args:
        streams: By name, those that are open; others are read from the folder that a chain names.
        kept: Lists of tasks that are kept; 0 if only outlines are needed.
    """

    def __init__(self, streams: Mapping[str, Stream] | None = None, *, kept: int = KEPT_TASKS) -> None:
        self.streams = dict(streams or {})
        self._kept = kept
        self._outlines: dict[tuple[str, ProtocolSetting, int], list[TaskOutline]] = {}
        self._read = lru_cache(maxsize=_KEPT_STREAMS)(_read)
        self._tasks = lru_cache(maxsize=kept)(self._cut)

    def stream(self, chain: ChainSpec) -> Stream:
        """The stream of a chain."""
        given = self.streams.get(chain.stream)
        return self._read(chain.stream, chain.data_dir) if given is None else given

    def tasks(self, chain: ChainSpec) -> list[tuple[Task, Truth]]:
        """The tasks of a chain, with their truth."""
        return self._tasks(chain.stream, chain.data_dir, chain.protocol, self.seed(chain))

    def outlines(self, chain: ChainSpec) -> list[TaskOutline]:
        """The outlines of the tasks of a chain."""
        key = chain.stream, chain.protocol, self.seed(chain)
        if key not in self._outlines:
            # One after the other if none is kept, so that no two graphs are in memory at once.
            tasks = iter(self.tasks(chain)) if self._kept else self.walk(chain)
            self._outlines[key] = [TaskOutline.of(index, task) for index, (task, _) in enumerate(tasks)]
        return self._outlines[key]

    def clear(self) -> None:
        """Lets go of every stream and task."""
        self.streams.clear()
        self._outlines.clear()
        self._read.cache_clear()
        self._tasks.cache_clear()

    def seed(self, chain: ChainSpec) -> int:
        """The seed that tasks are drawn with: years are the same for every seed, so that all seeds share the graphs."""
        return chain.seed if self.stream(chain).static else 0

    def walk(self, chain: ChainSpec) -> Iterator[tuple[Task, Truth]]:
        """Cuts the tasks of a chain one after the other, and keeps none."""
        return iter(chain.protocol.build().tasks(self.stream(chain), self.seed(chain)))

    def _cut(self, name: str, data_dir: str | None, protocol: ProtocolSetting, seed: int) -> list[tuple[Task, Truth]]:
        given = self.streams.get(name)
        return list(protocol.build().tasks(self._read(name, data_dir) if given is None else given, seed))


def _read(name: str, data_dir: str | None) -> Stream:
    return load(name, Path(data_dir) if data_dir else None)
