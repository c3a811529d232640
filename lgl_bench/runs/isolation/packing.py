"""Records with large arrays as bytes for another process: what several records share is written once.

The snapshots of a stream are prefixes of the same arrays. Two arrays that begin at the same place with the same strides
are written as the larger one, and the smaller is cut out of it by the reader; arrays stay read-only.
"""

from __future__ import annotations

import io
import pickle
import struct
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from lgl_bench.core.types import read_only

T = TypeVar("T")
_LENGTH = struct.Struct(">Q")


def write_record(record: object, file: IO[bytes]) -> None:
    """Writes a record; only a process that trusts the writer may read it."""
    body, arrays = _packed(record)
    head = pickle.dumps((body, [(array.dtype.str, array.shape) for array in arrays]))
    file.write(_LENGTH.pack(len(head)) + head)
    for array in arrays:
        if array.nbytes:
            file.write(np.ascontiguousarray(array).data.cast("B"))


def read_record(file: IO[bytes]) -> Any:
    """What `write_record` wrote; its arrays are this process's own."""
    (length,) = _LENGTH.unpack(_exactly(file, _LENGTH.size))
    body, kinds = pickle.loads(_exactly(file, length))
    arrays = []
    for dtype, shape in kinds:
        array = np.empty(shape, dtype=dtype)
        if array.nbytes:
            _fill(file, array.data.cast("B"))
        arrays.append(array)
    return _unpacked(body, arrays)


def copied(record: T) -> T:
    """A copy that shares no array with the original."""
    body, arrays = _packed(record)
    copy: T = _unpacked(body, [np.array(array) for array in arrays])
    return copy


def _packed(record: object) -> tuple[bytes, list[npt.NDArray[Any]]]:
    buffer = io.BytesIO()
    pickler = _Pickler(buffer)
    pickler.dump(record)
    return buffer.getvalue(), pickler.arrays


def _unpacked(body: bytes, arrays: list[npt.NDArray[Any]]) -> Any:
    return _Unpickler(io.BytesIO(body), arrays).load()


class _Pickler(pickle.Pickler):
    """Keeps arrays out of the pickle."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.arrays: list[npt.NDArray[Any]] = []
        self._places: dict[tuple[Any, ...], int] = {}

    def persistent_id(self, value: object) -> tuple[int, tuple[int, ...]] | None:
        if type(value) is not np.ndarray or value.dtype.hasobject:
            return None
        key = (value.ctypes.data, value.dtype.str, value.strides)
        place = self._places.get(key)
        if place is not None and value.size:
            other = self.arrays[place]
            if _holds(other, value):
                return place, value.shape
            if _holds(value, other):
                self.arrays[place] = value
                return place, value.shape
        place = len(self.arrays)
        self.arrays.append(value)
        self._places[key] = place
        return place, value.shape


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], arrays: list[npt.NDArray[Any]]) -> None:
        super().__init__(file)
        self.arrays = arrays

    def persistent_load(self, place: Any) -> npt.NDArray[Any]:
        number, shape = place
        return read_only(self.arrays[number][tuple(slice(size) for size in shape)])


def _holds(large: npt.NDArray[Any], small: npt.NDArray[Any]) -> bool:
    return all(a >= b for a, b in zip(large.shape, small.shape, strict=True))


def _exactly(file: IO[bytes], length: int) -> bytearray:
    data = bytearray(length)
    _fill(file, memoryview(data))
    return data


def _fill(file: Any, place: memoryview) -> None:
    while len(place):
        count = file.readinto(place)
        if not count:
            raise EOFError("the other process is gone")
        place = place[count:]
