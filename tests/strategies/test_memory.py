from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import DataError, PluginError
from lgl_bench.strategies import EMPTY, Memory
from lgl_bench.strategies.memory import dump_memory, is_ordered, parse_memory

SOME = Memory(
    np.array([2, 5]),
    np.array([0, -1]),
    np.array([[2, 5], [5, 2]]),
    {"sum": np.arange(6, dtype=np.float32).reshape(2, 3), "fits": np.array([3]), "flags": np.array([True, False])},
)


def same(one: Memory, other: Memory) -> bool:
    arrays = one.arrays.keys() == other.arrays.keys() and all(
        (array.dtype, array.shape, array.tobytes())
        == (other.arrays[name].dtype, other.arrays[name].shape, other.arrays[name].tobytes())
        for name, array in one.arrays.items()
    )
    edges = np.array_equal(one.edges, other.edges) if one.edges is not None else other.edges is None
    return arrays and edges and all(np.array_equal(*two) for two in zip(fields(one), fields(other), strict=True))


def fields(memory: Memory) -> tuple[np.ndarray, np.ndarray]:
    return memory.vertices, memory.labels


@pytest.mark.parametrize(
    "memory",
    [
        EMPTY,
        SOME,
        Memory(np.array([7]), np.array([1])),
        Memory(arrays={"loss": np.float64(0.5)}),
        Memory(arrays={"none": np.empty((0, 4))}),
        Memory(arrays={"turned": np.arange(6.0).reshape(2, 3).T}),
        Memory(arrays={"every other": np.arange(6)[::2]}),
        Memory(arrays={"with a hole": np.array([np.nan, np.inf])}),
        Memory(np.array([1]), np.array([0]), np.empty((2, 0), dtype=np.int64)),
    ],
    ids=["empty", "some", "vertices", "number", "no rows", "turned", "strided", "not finite", "no edges"],
)
def test_a_memory_survives_its_bytes_with_types_and_shapes(memory):
    again = parse_memory(dump_memory(memory))
    assert same(memory, again)
    assert dump_memory(again) == dump_memory(memory)


def test_the_order_of_names_does_not_matter_for_the_bytes():
    one, two = np.zeros(1), np.ones(1)
    assert dump_memory(Memory(arrays={"a": one, "b": two})) == dump_memory(Memory(arrays={"b": two, "a": one}))


def test_what_it_takes_is_counted_in_vertices_and_bytes():
    # two positions and labels, four ends of arcs, 8 bytes each; 6 floats, one counter, two flags
    assert (len(SOME), SOME.nbytes) == (2, 2 * 16 + 4 * 8 + 6 * 4 + 8 + 2)
    assert (len(EMPTY), EMPTY.nbytes, bool(EMPTY)) == (0, 0, False)
    assert bool(Memory(arrays={"fits": np.array([1])}))


def test_its_arrays_cannot_be_written_into():
    for array in (SOME.vertices, SOME.labels, SOME.edges, *SOME.arrays.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("vertices", "said"),
    [
        (np.array([1.5]), "not float64"),
        (np.array([np.nan]), "not float64"),
        (np.array([True, False]), "np.flatnonzero"),
        (np.array(["1"]), "not <U1"),
    ],
)
def test_vertices_that_are_no_whole_numbers_are_refused(vertices, said):
    with pytest.raises(PluginError, match=f"vertices of a memory must be whole numbers.*{said}"):
        Memory(vertices, np.zeros(len(vertices), dtype=np.int64))


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([object()]), np.array([1j]), np.array(["2000"], "M8[Y]")])
def test_an_array_of_something_else_than_numbers_is_refused_by_its_name(array):
    with pytest.raises(PluginError, match="arrays of numbers; 'mine' is one of"):
        Memory(arrays={"mine": array})


@pytest.mark.parametrize(
    "data",
    [b"", b"garbage", dump_memory(SOME)[:-3], dump_memory(SOME).replace(b"labels", b"lapels")],
    ids=["nothing", "garbage", "cut", "a name is missing"],
)
def test_bytes_that_are_no_memory_are_refused(data):
    with pytest.raises(DataError, match="what a fit remembers cannot be read"):
        parse_memory(data)


@pytest.mark.parametrize(
    "memory",
    [
        Memory(np.array([5, 2]), np.array([0, 0])),
        Memory(np.array([2, 2]), np.array([0, 0])),
        Memory(np.array([2, 5]), np.array([0])),
        Memory(np.array([[2, 5]]), np.array([[0, 0]])),
        Memory(np.array([2]), np.array([0]), np.array([2, 2])),
        Memory(np.array([2]), np.array([0]), np.array([[2], [2], [2]])),
    ],
    ids=["descends", "twice", "too few labels", "two dimensions", "no pairs", "triples"],
)
def test_arrays_that_do_not_go_together_are_refused_when_they_are_read(memory):
    assert not is_ordered(memory)
    with pytest.raises(DataError, match="vertices ascend"):
        parse_memory(dump_memory(memory))
