"""Writing in the background."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class BackgroundWriter:
    """Writes in order, in a thread of its own: a free worker gets its next order before the disk is done.

    What a write raises is raised by the next call.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._pending: deque[Future[object]] = deque()

    def enqueue(self, write: Callable[[], object]) -> None:
        """Has something written after all that was enqueued before."""
        self._pending.append(self._thread.submit(write))
        while self._pending and self._pending[0].done():
            self._pending.popleft().result()

    def flush(self) -> None:
        """Waits until everything is on the disk."""
        while self._pending:
            self._pending.popleft().result()
