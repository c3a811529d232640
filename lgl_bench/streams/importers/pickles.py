"""Python-2 pickles of numbers, read without running anything that they name.

A pickle is a program. The operations and the names admitted here are those that the Planetoid files use, and what
they build are records of this module: no class of numpy or scipy is called before its parts are checked. (numpy's own
reconstruction of an array of objects takes pointers from the file.)
"""

from __future__ import annotations

import io
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from lgl_bench.core.errors import DataError

_TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
_OPERATIONS = (
    pickle.PROTO, pickle.STOP, pickle.MARK, pickle.GLOBAL, pickle.REDUCE, pickle.NEWOBJ, pickle.BUILD, pickle.NONE,
    pickle.NEWTRUE, pickle.NEWFALSE, pickle.INT, pickle.LONG, pickle.BININT, pickle.BININT1, pickle.BININT2,
    pickle.LONG1, pickle.FLOAT, pickle.BINFLOAT, pickle.STRING, pickle.BINSTRING, pickle.SHORT_BINSTRING,
    pickle.UNICODE, pickle.BINUNICODE, pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3,
    pickle.EMPTY_LIST, pickle.LIST, pickle.APPEND, pickle.APPENDS, pickle.EMPTY_DICT, pickle.DICT, pickle.SETITEM,
    pickle.SETITEMS, pickle.GET, pickle.BINGET, pickle.LONG_BINGET, pickle.PUT, pickle.BINPUT, pickle.LONG_BINPUT,
)  # fmt: skip


class PickleError(Exception):
    """What a pickle holds is not what it should be."""


class _Name:
    """A name that was admitted; it is nothing but a name."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class _Dtype:
    """A type of numbers: `dtype('f4', 0, 1)` and the state that says the order of its bytes."""

    __slots__ = ("order", "text")

    def __init__(self, text: Any = None, *_: Any) -> None:
        if text not in _TYPES:
            raise PickleError(f"an array of type {str(text)[:20]!r}, which is no type of numbers")
        self.text, self.order = text, "="

    def set_state(self, state: Any) -> None:
        order = state[1] if isinstance(state, tuple) and len(state) == 8 else None
        if order not in ("<", ">", "|", "="):
            raise PickleError("a type of numbers in a state that is none")
        self.order = order

    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = np.dtype(("" if self.order == "|" else self.order) + self.text)
        return found


class _Array:
    """An array: empty until its state brings shape, type and bytes."""

    __slots__ = ("array",)

    def __init__(self, *_: Any) -> None:
        self.array: npt.NDArray[Any] | None = None

    def set_state(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) != 5 or not isinstance(state[2], _Dtype):
            raise PickleError("an array in a state that is none")
        _, shape, kind, fortran, content = state
        content = content.encode("latin1") if isinstance(content, str) else content
        if not isinstance(content, bytes) or not isinstance(shape, tuple) or len(shape) > 2:
            raise PickleError("an array without bytes or with a strange shape")
        if any(type(length) is not int or length < 0 for length in shape):
            raise PickleError(f"an array of the shape {shape}")
        needed = math.prod(shape) * kind.dtype().itemsize
        if needed != len(content):
            raise PickleError(f"an array of the shape {shape}, which needs {needed:,} bytes and has {len(content):,}")
        order: Any = "F" if fortran else "C"
        self.array = np.frombuffer(content, kind.dtype()).reshape(shape, order=order)


class _Matrix:
    """A sparse matrix: a dictionary of its parts."""

    __slots__ = ("parts",)

    def __init__(self, *_: Any) -> None:
        self.parts: dict[Any, Any] = {}

    def set_state(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise PickleError("a matrix in a state that is none")
        self.parts = state


def _dictionary(*_: Any) -> dict[Any, Any]:
    """A defaultdict without its default: nobody asks it for a vertex that it does not have."""
    return {}


_MADE_BY: dict[str, Any] = {
    "collections defaultdict": _dictionary,
    "numpy.core.multiarray _reconstruct": _Array,
    "numpy dtype": _Dtype,
    "scipy.sparse.csr csr_matrix": _Matrix,
}
_ONLY_NAMED = ("__builtin__ list", "numpy ndarray")


def _call(machine: Any) -> None:
    arguments, name = machine.stack.pop(), machine.stack.pop()
    if not isinstance(name, _Name) or name.text not in _MADE_BY or not isinstance(arguments, tuple):
        raise PickleError("a call of what is not to be called")
    machine.stack.append(_MADE_BY[name.text](*arguments))


def _set_state(machine: Any) -> None:
    state, target = machine.stack.pop(), machine.stack[-1]
    if not isinstance(target, _Array | _Dtype | _Matrix):
        raise PickleError("a state of what has none")
    target.set_state(state)


class _Admitted(dict[int, Any]):
    def __missing__(self, operation: int) -> Any:
        raise PickleError(f"the operation {chr(operation)!r}, which no Planetoid file needs, and is refused")


class _LimitedUnpickler(pickle._Unpickler):
    """Python's own pickle machine, with few operations, and calls replaced by the records above."""

    dispatch = _Admitted({operation[0]: pickle._Unpickler.dispatch[operation[0]] for operation in _OPERATIONS})
    dispatch |= {pickle.REDUCE[0]: _call, pickle.NEWOBJ[0]: _call, pickle.BUILD[0]: _set_state}

    def find_class(self, module: str, name: str) -> Any:
        text = f"{module} {name}"
        if text not in _MADE_BY and text not in _ONLY_NAMED:
            raise DataError(f"{module}.{name}")
        return _Name(text)


def read_pickle(path: Path) -> Any:
    """What a pickle holds: numbers, text, lists, dictionaries, arrays of numbers; a `_Matrix` for a sparse matrix."""
    try:
        found = _LimitedUnpickler(io.BytesIO(path.read_bytes()), encoding="latin1").load()
    except DataError as error:
        raise DataError(
            f"{path} names {error}, which no Planetoid file needs; unpickling it could run foreign code, so it is "
            "refused. Get the file again from a source you trust"
        ) from None
    except PickleError as error:
        raise DataError(f"{path} holds {error}; get it again") from error
    except Exception as error:  # a damaged pickle can raise anything at all
        raise DataError(
            f"{path} cannot be read ({type(error).__name__}: {error}); is it cut short? Get it again"
        ) from error
    return _unwrapped(found)


def read_array(path: Path, dimensions: int) -> npt.NDArray[Any]:
    """A pickled array of numbers."""
    found = read_pickle(path)
    if not isinstance(found, np.ndarray) or found.ndim != dimensions:
        raise DataError(f"{path} holds no array of numbers with {dimensions} dimensions; get it again")
    return found


def read_matrix(path: Path) -> scipy.sparse.csr_matrix:
    """A pickled sparse matrix (CSR), or a pickled array, whose indices lie inside it; scipy follows them anywhere."""
    found = read_pickle(path)
    if isinstance(found, np.ndarray) and found.ndim == 2:
        return scipy.sparse.csr_matrix(found)
    problem = "it is something else"
    if isinstance(found, _Matrix):
        parts = {name: _unwrapped(found.parts.get(name)) for name in ("data", "indices", "indptr", "_shape")}
        problem = _contradiction(**{name.strip("_"): part for name, part in parts.items()})
        if not problem:
            return scipy.sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=parts["_shape"])
    raise DataError(f"{path} holds no sparse matrix ({problem}); get it again")


def _unwrapped(value: Any) -> Any:
    """An array out of its record."""
    return value.array if isinstance(value, _Array) else value


def _contradiction(data: Any, indices: Any, indptr: Any, shape: Any) -> str:
    """Why the parts of a sparse matrix do not fit together; "" if they do."""
    if not isinstance(shape, tuple) or len(shape) != 2 or any(type(n) is not int or n < 0 for n in shape):
        return "it has no shape of rows and columns"
    if any(not isinstance(part, np.ndarray) or part.ndim != 1 for part in (data, indices, indptr)):
        return "a part of it is missing or no list of numbers"
    if indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        return "its indices are no whole numbers"
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        return "its row pointers do not ascend from 0, one per row"
    if len(data) != len(indices) or indptr[-1] != len(indices):
        return "its row pointers, column indices and values differ in length"
    if len(indices) and (indices.min() < 0 or indices.max() >= min(shape[1], 2**31 - 1)):
        return "a column index lies outside"
    return ""
