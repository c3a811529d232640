"""Seeds, one per axis, from the run's own seed.

Two axes never share a stream of random numbers, so adding a detector or a year cannot change what
another one draws.
"""

from __future__ import annotations

import hashlib

import numpy as np


def derive(seed: int, *axes: str | int) -> int:
    """A seed in [0, 2**63) that depends on every axis given, in order.

    >>> derive(0, "split") == derive(0, "split"), derive(0, "split") == derive(0, "weights")
    (True, False)
    """
    text = "\x1f".join([str(int(seed)), *(f"{type(axis).__name__}:{axis}" for axis in axes)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def member_seed(seed: int, member: int) -> int:
    """The seed of a member of an ensemble: the run's own of the first, one that no other run has of the others.

    >>> member_seed(3, 0), member_seed(3, 1) == member_seed(4, 1)
    (3, False)
    """
    return derive(seed, "member", member) if member else seed


def generator(seed: int, *axes: str | int) -> np.random.Generator:
    """A numpy generator for these axes."""
    return np.random.Generator(np.random.PCG64(derive(seed, *axes)))
