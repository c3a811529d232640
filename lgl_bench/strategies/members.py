"""What the members of an ensemble are offered and keep: each its own, and all of it stored as one memory.

Of a single model all of this is what `offers` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from lgl_bench.core.errors import DataError, PluginError
from lgl_bench.core.types import Task
from lgl_bench.strategies import EMPTY, GraphKept, Memory, Past
from lgl_bench.strategies.memory import ORDER, is_ordered, memory_arrays, memory_from
from lgl_bench.strategies.offers import Given, memory_size, offer, seal


def given_to(task: Task, earlier: Task | None, memory: Memory, past: Past, graph: GraphKept, members: int) -> Given:
    """What `offer` makes of a task, for every member with its own memory.

    Raises:
        DataError: The memory is not one of so many members.
    """
    first, *others = (Given(offer(task, earlier, own, past, graph), own) for own in separated(memory, members))
    return replace(first, others=tuple(others))


def pooled(memories: Sequence[Memory]) -> Memory:
    """The memories of all members as one; a single memory stays as it is."""
    if len(memories) == 1:
        return memories[0]
    if not any(memories):
        return EMPTY
    return Memory(
        arrays={f"{k}:{name}": one for k, own in enumerate(memories) for name, one in memory_arrays(own).items()}
    )


def separated(memory: Memory, members: int) -> list[Memory]:
    """What each member remembers.

    Raises:
        DataError: It is not a memory of so many members.
    """
    if members == 1 or not memory:
        return [memory] * members
    found: list[dict[str, npt.NDArray[Any]]] = [{} for _ in range(members)]
    try:
        for name, one in memory.arrays.items():
            number, _, own = name.partition(":")
            found[int(number)][own] = one
        memories = [memory_from(parts) for parts in found]
    except (LookupError, ValueError, PluginError) as error:
        raise DataError(f"what the {members} members of an ensemble remember cannot be read: {error!r}") from error
    if len(memory) or not all(map(is_ordered, memories)):
        raise DataError(f"what the members of an ensemble remember is not ordered: {ORDER}")
    return memories


def seal_members(memory: Memory, given: Given) -> Memory:
    """`seal` for every member."""
    own = separated(memory, len(given.members))
    return pooled([seal(one, part.task) for one, part in zip(own, given.members, strict=True)])


def members_size(memory: Memory, given: Given, past: Past) -> tuple[int, int]:
    """`memory_size` of all members; history that is all on offer has to be kept once, whoever learns from it."""
    own = separated(memory, len(given.members))
    if past == "all":
        vertices, size = memory_size(own[0], given.task, past)
        return vertices, size + sum(one.nbytes for one in own[1:])
    sizes = [memory_size(one, part.task, past) for one, part in zip(own, given.members, strict=True)]
    return sum(vertices for vertices, _ in sizes), sum(size for _, size in sizes)
