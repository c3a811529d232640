from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.strategies import EMPTY, Memory
from lgl_bench.strategies.members import given_to, members_size, pooled, seal_members, separated
from lgl_bench.strategies.memory import dump_memory, parse_memory
from lgl_bench.strategies.offers import memory_size, offer
from tests.support.graphs import small_stream


def first() -> Memory:
    return Memory([1, 4], [0, 2], np.array([[1], [4]]), {"steps": np.array(3.0), "rows": np.arange(4)})


def second() -> Memory:
    return Memory([2], [1])


def same(one: Memory, other: Memory) -> bool:
    return dump_memory(one) == dump_memory(other)


def tasks():
    return [task for task, _ in Temporal().tasks(small_stream(), 0)]


def test_the_memories_of_all_members_are_stored_as_one_and_come_back():
    again = separated(parse_memory(dump_memory(pooled([first(), EMPTY, second()]))), 3)
    assert [same(*pair) for pair in zip(again, [first(), EMPTY, second()], strict=True)] == [True] * 3


def test_one_memory_stays_as_it_is_and_nothing_stays_nothing():
    memory = first()
    assert pooled([memory]) is memory and separated(memory, 1) == [memory]
    assert pooled([EMPTY, EMPTY]) is EMPTY and separated(EMPTY, 3) == [EMPTY] * 3


@pytest.mark.parametrize(
    "memory",
    [
        first(),  # of a single model
        pooled([first(), second(), second()]),
        Memory(arrays={"0:vertices": np.array([1])}),
        Memory(arrays={"0:vertices": np.array([2, 1]), "0:labels": np.array([0, 0]), **{
            f"1:{name}": np.empty(0, dtype=np.int64) for name in ("vertices", "labels")
        }}),
    ],
    ids=["one", "three", "half", "unordered"],
)  # fmt: skip
def test_what_is_no_memory_of_so_many_members_is_refused(memory):
    with pytest.raises(DataError, match="members of an ensemble remember"):
        separated(memory, 2)


def test_every_member_is_offered_what_it_remembers_itself():
    earlier, task = tasks()[:2]
    memories = [Memory([1, 4], [0, 0]), Memory([2], [1])]
    given = given_to(task, earlier, pooled(memories), "memory", "all", 2)
    assert [np.flatnonzero(one.task.remembered).tolist() for one in given.members] == [[1, 4], [2]]
    assert [one.others for one in given.members] == [(), ()]
    alone = given_to(task, earlier, memories[0], "memory", "all", 1)
    assert alone.members == (alone,) and np.array_equal(alone.task.remembered, given.task.remembered)


def test_what_members_keep_is_sealed_and_measured_for_each():
    earlier, task = tasks()[:2]
    given = given_to(task, earlier, EMPTY, "memory", "all", 2)
    new = np.flatnonzero(given.task.new)[:3]
    kept = pooled([Memory(new[:2], [9, 9]), Memory(new[2:], [9])])
    sealed = separated(seal_members(kept, given), 2)
    assert [one.labels.tolist() for one in sealed] == [task.train.labels[new[:2]].tolist(), [task.train.labels[new[2]]]]
    sizes = [memory_size(one, given.task, "memory") for one in sealed]
    assert members_size(pooled(sealed), given, "memory") == tuple(map(sum, zip(*sizes, strict=True)))


def test_history_that_is_all_on_offer_is_kept_once():
    _, task = tasks()[:2]
    given = given_to(task, None, EMPTY, "all", "all", 3)
    assert members_size(EMPTY, given, "all") == memory_size(EMPTY, offer(task, None, EMPTY), "all")
