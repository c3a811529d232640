from __future__ import annotations

import io

import numpy as np
import pytest

from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.isolation.packing import copied, read_record, write_record
from tests.support.graphs import small_stream


def arrays_of(task):
    return [task.train.graph.features, task.train.graph.edges, task.train.labels, task.test.features, task.test.edges]


@pytest.fixture
def tasks():
    return [task for task, _ in Temporal().tasks(small_stream(), 0)]


def sent(record):
    buffer = io.BytesIO()
    write_record(record, buffer)
    size = buffer.tell()
    buffer.seek(0)
    return read_record(buffer), size


def test_a_task_arrives_as_it_was_with_read_only_arrays(tasks):
    arrived, _ = sent({"tasks": tasks, "weights": b"abc"})
    assert arrived["weights"] == b"abc"
    for one, other in zip(tasks, arrived["tasks"], strict=True):
        for before, after in zip(arrays_of(one), arrays_of(other), strict=True):
            assert before.dtype == after.dtype and np.array_equal(before, after)
            assert not after.flags.writeable and not np.shares_memory(before, after)


def test_snapshots_that_are_prefixes_of_one_stream_are_written_once(tasks):
    _, both = sent(tasks)
    _, largest = sent(tasks[-1])
    assert both < 1.2 * largest


def test_a_copy_shares_nothing_with_the_original_not_even_behind_its_flags(tasks):
    task = copied(tasks[0])
    task.test.edges.setflags(write=True)
    task.test.edges[:] = 0
    assert tasks[0].test.edges.any()


def test_arrays_that_are_empty_or_overlap_without_containing_each_other_are_kept_apart():
    whole = np.arange(12).reshape(3, 4)
    arrived, _ = sent([whole[:2], whole[:, :2], np.empty((0, 3)), whole[1:]])
    for one, other in zip([whole[:2], whole[:, :2], np.empty((0, 3)), whole[1:]], arrived, strict=True):
        assert one.shape == other.shape and np.array_equal(one, other)
