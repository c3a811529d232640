"""Threads of the native kernels. They share rows, never a sum, so results do not depend on their number."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

# Less work than this is done by one thread sooner than it is shared out.
_MIN_ARCS = 20_000

_Result = TypeVar("_Result")
_count = 1
_pool: ThreadPoolExecutor | None = None


def thread_count() -> int:
    """How many threads compute a kernel."""
    return _count


def set_thread_count(count: int) -> None:
    """Sets how many threads compute a kernel, in this process."""
    global _count, _pool  # threads belong to the process, as torch's own do
    if count != _count and _pool is not None:
        _pool.shutdown()
        _pool = None
    _count = count


def _forget_pool() -> None:
    """A child of this process has none of its threads, and would wait for them."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def in_threads(loop: Callable[..., Any], arguments: tuple[Any, ...], starts: Any) -> None:
    """Calls a loop for all rows, in as many ranges as there are threads, each with about as many arcs.

    Args:
        loop: Takes the arguments, the first row and the one after the last; it holds no lock of Python.
        arguments: Of the loop.
        starts: Number of arcs before each row, and in all.
    """
    if _count == 1 or starts[-1] < _MIN_ARCS:
        loop(*arguments, 0, len(starts) - 1)
        return
    for done in [_threads().submit(loop, *arguments, first, last) for first, last in _ranges(starts, _count)]:
        done.result()


def in_ranges(work: Callable[[int, int], _Result], starts: Any, count: int) -> Iterator[_Result]:
    """What some work returns for ranges of rows, in their order; their number does not depend on that of threads.

    Args:
        work: Takes the first row and the one after the last; it holds no lock of Python.
        starts: Number of arcs before each row, and in all.
        count: Number of ranges, each with about as many arcs.
    """
    ranges = _ranges(starts, count)
    if _count == 1 or count == 1:
        return (work(first, last) for first, last in ranges)
    return _threads().map(work, *zip(*ranges, strict=True))


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(_count, thread_name_prefix="kernel")
    return _pool


def _ranges(starts: Any, count: int) -> list[tuple[int, int]]:
    cuts = [bisect_left(starts, part * starts[-1] // count) for part in range(1, count)]
    bounds = [0, *cuts, len(starts) - 1]
    return list(zip(bounds[:-1], bounds[1:], strict=True))
