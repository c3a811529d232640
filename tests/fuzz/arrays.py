"""Damage to npy files: headers that say something else than the bytes, other types, archives in their place."""

from __future__ import annotations

import io
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.mutations import files_in

_SHAPES = (
    "()", "(0,)", "(5,)", "(-1,)", "(5, 4, 1)", "(2000000000, 400)", "(9223372036854775807,)", "(5, 2.5)", "(5, 0)",
    "5", "[5]", "('a',)", "(True,)", "(1,) * 9", "(99999999999999999999,)", "(5, 1000000000000)",
)  # fmt: skip
_DTYPES = (
    "'|O'", "'<f8'", "'>f8'", "'<i8'", "'<u8'", "'<U4'", "'|S8'", "'<M8[D]'", "'<m8[s]'", "'<c16'", "'|V8'", "'|b1'",
    "'<f2'", "'|V2000000000'", "[('a', '<i4'), ('b', '<f8')]", "'nonsense'", "None", "'<U2000000000'", "'<i3'",
)  # fmt: skip
_VALUES = (2**63, 2**64 - 1, 2**62, 2_000_000_000, -(2**63), -7, 0)


def damage_npy(folder: Path, rng: random.Random) -> None:
    """Writes one npy file of the folder again with something wrong."""
    path = rng.choice(files_in(folder, ".npy"))
    damage = rng.choice([_header, _header, _retyped, _retyped, _one_value, _archive, _pickled])
    path.write_bytes(damage(path.read_bytes(), rng))


def _header(data: bytes, rng: random.Random) -> bytes:
    """Another header over the same bytes."""
    array = np.load(io.BytesIO(data))
    shape, dtype, order = str(array.shape), repr(array.dtype.str), str(array.flags.fnc)
    which = rng.randrange(4)
    if which in (0, 3):
        shape = rng.choice(_SHAPES)
    if which in (1, 3):
        dtype = rng.choice(_DTYPES)
    if which == 2:
        order = rng.choice(["True", "1", "None", "'C'"])
    text = f"{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape}, }}"
    if rng.random() < 0.15:
        text = rng.choice(["{}", "[]", "{'descr': '<f8'}", "(" * 400, "9" * 5000, text[:-9], "{" * 90, "-" * 3000])
    version = rng.choice([b"\x01\x00"] * 4 + [b"\x02\x00", b"\x03\x00", b"\x09\x00"])
    length = struct.pack("<H" if version[0] == 1 else "<I", rng.choice([len(text) + 1] * 6 + [0, 60000]))
    return b"\x93NUMPY" + version + length + text.encode() + b"\n" + array.tobytes()


def _retyped(data: bytes, rng: random.Random) -> bytes:
    """The same numbers as another type or shape."""
    array = np.load(io.BytesIO(data))
    changes: list[Any] = [
        lambda: array.astype(np.uint64) + np.uint64(2**64 - 3),
        lambda: array.astype(rng.choice(["f2", "f4", ">i8", "u1", "c16", "U8", "S8", "?", "M8[D]", "m8[s]"])),
        lambda: array.reshape(-1, 1, 1),
        lambda: array.reshape(-1),
        lambda: array[..., None],
        lambda: array[:0],
        lambda: array[:1],
        lambda: np.concatenate([array, array]),
        lambda: np.asfortranarray(array),
        lambda: np.array(5),
        lambda: np.zeros((len(array), 0)),
        lambda: np.full(array.shape, np.nan),
    ]
    return _saved(rng.choice(changes)())


def _one_value(data: bytes, rng: random.Random) -> bytes:
    array = np.load(io.BytesIO(data))
    value = rng.choice(_VALUES)
    array = array.astype(np.uint64 if value >= 2**63 else np.int64)
    array.reshape(-1)[rng.randrange(array.size)] = value
    return _saved(array)


def _archive(data: bytes, rng: random.Random) -> bytes:
    """An npz, a gz or a zlib stream under the name of an npy."""
    sink = io.BytesIO()
    np.savez_compressed(sink, rng.choice([np.arange(5), np.zeros(10**6)]))
    return rng.choice([sink.getvalue(), zlib.compress(data), sink.getvalue()[:-30]])


def _pickled(data: bytes, rng: random.Random) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.array([{"a": 1}, None, [1, 2], "x", 5], dtype=object), allow_pickle=True)
    return rng.choice([sink.getvalue(), np.array([1, "x", None], dtype=object).dumps()])


def _saved(array: np.ndarray[Any, Any]) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()
