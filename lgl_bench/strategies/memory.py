"""What a strategy carries from year to year: vertices it remembers, and arrays of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import safetensors.numpy

from lgl_bench.core.errors import DataError, PluginError
from lgl_bench.core.types import IntArray, read_only

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
ORDER = "vertices ascend, each with a label, and edges are pairs"
_NONE = np.empty(0, dtype=np.int64)
_NO_EDGES = np.empty((2, 0), dtype=np.int64)
_OWN = "array:"
_STORED = {f"{kind}{size}" for kind in "iuf" for size in (1, 2, 4, 8)} | {"b1"}


def whole_numbers(values: Any, name: str) -> IntArray:
    """Values as an array of whole numbers.

    Raises:
        PluginError: They are something else, such as a mask.
    """
    found = np.asarray(values)
    if found.size and found.dtype.kind not in "iu":
        hint = "; np.flatnonzero turns a mask into them" if found.dtype.kind == "b" else ""
        raise PluginError(f"{name} of a memory must be whole numbers, not {found.dtype}{hint}")
    return found.astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True)
class Memory:
    """What is stored with a fit and handed to the next one.

    Make one with `FitTask.remember`, which fills in positions and labels.

    Attributes:
        vertices: Positions in the stream of the vertices that are remembered, ascending.
        labels: Global class id of each; -1 for one that is kept without a label.
        edges: (2, m) positions: the arcs between remembered vertices that a graph of kept ones has; None for all that
            there are.
        arrays: Whatever else, by name: importances, counters.
    """

    vertices: IntArray = field(default_factory=lambda: _NONE)
    labels: IntArray = field(default_factory=lambda: _NONE)
    edges: IntArray | None = None
    arrays: Arrays = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("vertices", "labels", "edges"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(whole_numbers(getattr(self, name), name)))
        arrays = {name: read_only(np.asarray(one)) for name, one in self.arrays.items()}
        for name, one in arrays.items():
            if one.dtype.str[1:] not in _STORED:
                raise PluginError(f"a memory holds arrays of numbers; '{name}' is one of {one.dtype}")
        object.__setattr__(self, "arrays", arrays)

    def __bool__(self) -> bool:
        """Whether anything is kept."""
        return bool(len(self.vertices) or self.arrays)

    def __len__(self) -> int:
        """Vertices that are remembered."""
        return len(self.vertices)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        edges = 0 if self.edges is None else self.edges.nbytes
        return self.vertices.nbytes + self.labels.nbytes + edges + sum(one.nbytes for one in self.arrays.values())

    def with_arrays(self, arrays: Arrays) -> Memory:
        """The same vertices, with other arrays."""
        return replace(self, arrays=arrays)


EMPTY = Memory()
"""Nothing is kept."""


def dump_memory(memory: Memory) -> bytes:
    """A memory as safetensors; the same arrays give the same bytes."""
    # not ascontiguousarray: it gives a single number a dimension
    parts = {name: np.asarray(one, order="C") for name, one in memory_arrays(memory).items()}
    return bytes(safetensors.numpy.save(parts))


def memory_arrays(memory: Memory) -> dict[str, npt.NDArray[Any]]:
    """All of a memory as arrays, by the names they are stored under."""
    parts: dict[str, npt.NDArray[Any]] = {"vertices": memory.vertices, "labels": memory.labels}
    if memory.edges is not None:
        parts["edges"] = memory.edges
    return parts | {f"{_OWN}{name}": memory.arrays[name] for name in sorted(memory.arrays)}


def memory_from(parts: Arrays) -> Memory:
    """A memory from such arrays.

    Raises:
        KeyError: One that must be there is missing.
    """
    arrays = {name.removeprefix(_OWN): one for name, one in parts.items() if name.startswith(_OWN)}
    return Memory(parts["vertices"], parts["labels"], parts.get("edges"), arrays)


def parse_memory(data: bytes) -> Memory:
    """A memory from its bytes.

    Raises:
        DataError: They are none.
    """
    try:
        memory = memory_from(safetensors.numpy.load(data))
    except Exception as error:  # the library has errors of its own, and names that are missing
        raise DataError(f"what a fit remembers cannot be read: {error}") from error
    if not is_ordered(memory):
        raise DataError(f"what a fit remembers is not ordered: {ORDER}")
    return memory


def is_ordered(memory: Memory) -> bool:
    """Whether its arrays go together, as `ORDER` says."""
    edges = _NO_EDGES if memory.edges is None else memory.edges
    ascending = memory.vertices.ndim == 1 and bool((np.diff(memory.vertices) > 0).all())
    return ascending and memory.labels.shape == memory.vertices.shape and edges.ndim == 2 and len(edges) == 2
