"""Damage to Planetoid's pickles: other objects, and other operations around the same ones."""

from __future__ import annotations

import pickle
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from tests.fuzz.mutations import files_in
from tests.support.stream_files import python2_pickle

_RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n"
_VALUES: tuple[Any, ...] = (
    None, 5, "x", b"abc", [], {}, [1, 2, 3], {0: [1], 1: 5}, {0: ["a"]}, {"a": [0]}, {0: [2**70]}, {-1: [0]},
    {0: [True, 1.5]}, {0: None}, {(0, 1): [1]}, np.arange(5), np.zeros((0, 3)), np.zeros((3, 0)), np.ones((5, 3)),
    np.eye(5, 3) * 2.5, np.full((5, 3), np.nan), np.array(3), np.zeros((5, 3, 2)), np.array([["a"] * 3] * 5),
    np.arange(15, dtype=np.uint64).reshape(5, 3) + np.uint64(2**63), np.ones((5, 3), dtype=np.complex128),
    np.array([None, 1], dtype=object), np.zeros(5, dtype=[("a", "i4")]), scipy.sparse.csr_matrix((5, 12)),
    scipy.sparse.csr_matrix((5, 0)), scipy.sparse.csr_matrix(([np.nan], ([0], [0])), shape=(5, 12)),
    scipy.sparse.csc_matrix(np.eye(5, 12)), scipy.sparse.csr_matrix((5, 2_000_000_000)),
)  # fmt: skip


def damage_pickle(folder: Path, rng: random.Random) -> None:
    """Writes one pickle of the folder again with something wrong."""
    path = rng.choice([path for path in files_in(folder) if path.suffix != ".index"])
    damage = rng.choice([_other_value, _other_value, _raw_array, _raw_matrix, _other_bytes, _operations, _numbers])
    path.write_bytes(damage(path.read_bytes(), rng))


def _other_value(data: bytes, rng: random.Random) -> bytes:
    value = rng.choice(_VALUES)
    return python2_pickle(value) if rng.random() < 0.8 else pickle.dumps(value, protocol=rng.randrange(6))


def _raw_array(data: bytes, rng: random.Random) -> bytes:
    """An array built operation by operation: any shape, any type, any bytes."""
    kind = rng.choice([b"O8", b"f4", b"i8", b"V8", b"S4", b"U4", b"M8", b"c16", b"i3", b"", b"f4,i4", b"O"])
    shape = rng.choice([(5, 3), (0,), (2**40,), (-1,), (2**31, 2**31), (), (1,) * 70, (2**62, 4)])
    content = rng.choice([b"", b"A" * 8, b"\0" * 64, b"A" * 60, bytes(range(256))])
    start = rng.choice([b"(I0\ntp1\n", b"(I2000000000\nI400\ntp1\n", b"(I-1\ntp1\n", b"I5\n"])
    first = rng.choice([b"S'b'\n", b"S'O'\n", b"S'f8'\n", b"I0\n"])
    dtype = b"cnumpy\ndtype\n(S'" + kind + b"'\nI0\nI1\ntR"
    state = rng.choice([b"(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb", b"(I3\nS'|'\nNNNI-1\nI-1\nI63\ntb", b"", b"(I4\nNNNtb"])
    sizes = b"(" + b"".join(b"L%dL\n" % size for size in shape) + b"t"
    filled = b"(I1\n" + sizes + dtype + state + rng.choice([b"I00\n", b"I01\n"])
    filled += b"T" + struct.pack("<i", len(content)) + content + b"tb"
    return _RECONSTRUCT + start + first + b"tR" + rng.choice([filled, filled, b"", b"}b", b"(I1\ntb"]) + b"."


def _raw_matrix(data: bytes, rng: random.Random) -> bytes:
    """A sparse matrix whose parts contradict each other."""
    matrix = scipy.sparse.csr_matrix(np.eye(5, 12))
    state = matrix.__dict__
    changes: list[tuple[str, Any]] = [
        ("indices", np.array([0, 1, 2, 3, 99], dtype=np.int32)),
        ("indices", np.array([0, -1, 2, 3, 4], dtype=np.int32)),
        ("indices", np.arange(5) + 0.5),
        ("indptr", np.array([0, 9, 2, 3, 4, 5], dtype=np.int32)),
        ("indptr", np.array([0, 2**40, 2, 3, 4, 5])),
        ("indptr", np.zeros(0, dtype=np.int32)),
        ("data", np.array(["a"] * 5)),
        ("data", np.ones(3)),
        ("data", None),
        ("_shape", (2**40, 2**40)),
        ("_shape", (5,)),
        ("_shape", "ab"),
        ("_shape", (-5, 12)),
        ("format", "coo"),
        ("extra", 1),
    ]
    name, value = rng.choice(changes)
    state[name] = value
    if rng.random() < 0.2:
        del state[rng.choice(sorted(state))]
    return python2_pickle(matrix)


def _other_bytes(data: bytes, rng: random.Random) -> bytes:
    """The bytes of an array repeated or cut, so that its shape no longer fits."""
    at = data.find(b"T", rng.randrange(len(data)))
    if at < 0 or at + 5 > len(data):
        return data[: len(data) // 2]
    length = struct.unpack("<i", data[at + 1 : at + 5])[0]
    other = rng.choice([0, length - 1, length + 1, 2 * length, 2**31 - 1, -1])
    return data[: at + 1] + struct.pack("<i", max(min(other, 2**31 - 1), -(2**31))) + data[at + 5 :]


def _operations(data: bytes, rng: random.Random) -> bytes:
    """Operations at any place, and names that no Planetoid file needs."""
    pieces = [
        b"0", b"2", b"(", b"t", b"R", b"b", b"}", b"]", b"a", b"e", b"s", b"u", b"N", b"h\x00", b"q\xff", b"p5\n",
        b"r\xff\xff\xff\x7f", b"cos\nsystem\n(S'true'\ntR", b"c__builtin__\nlist\n", b"cnumpy\nload\n", b"\x80\x05",
        b"\x95" + struct.pack("<Q", 2**40), b"X" + struct.pack("<I", 2**32 - 1), b"\x8d" + struct.pack("<Q", 2**62),
        b"I" + b"9" * 5000 + b"\n", b"(" * 100_000, b"]" * 1000, b"Va\\ud800\n", b"P1\n", b"\x93", b"\x81", b"\x97",
        b"B" + struct.pack("<I", 2**31), b"ccollections\ndefaultdict\n", b"r\x00\x00\x00\x10",
    ]  # fmt: skip
    at = rng.choice([0, 2, rng.randrange(len(data) + 1), len(data) - 1])
    return data[:at] + rng.choice(pieces) + data[at:]


def _numbers(data: bytes, rng: random.Random) -> bytes:
    """One small number of the pickle as another."""
    found = bytearray(data)
    places = [at for at in range(len(data) - 1) if data[at : at + 1] in (b"K", b"h", b"q", b"C")]
    if places:
        found[rng.choice(places) + 1] = rng.randrange(256)
    return bytes(found)
