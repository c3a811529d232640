"""What a class and its module keep between calls, forgotten as if each call had a process of its own."""

from __future__ import annotations

import collections
import contextlib
import copy
import random
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

_DATA = (
    *(dict, list, set, tuple, collections.deque, bytearray, types.SimpleNamespace),
    *(int, float, str, bytes, type(None), np.ndarray, torch.Tensor, np.random.Generator, random.Random),
)


@contextlib.contextmanager
def forgotten(plugin: type) -> Iterator[None]:
    """Whatever the class, its bases and their modules hold is afterwards what it was before."""
    owners: list[Any] = [kind for kind in plugin.__mro__ if kind is not object]
    owners += dict.fromkeys(sys.modules[kind.__module__] for kind in owners if kind.__module__ in sys.modules)
    kept = [(owner, _data(owner)) for owner in owners]
    copies = [(owner, {key: _copy(value) for key, value in data.items()}) for owner, data in kept]
    try:
        yield
    finally:
        for owner, data in copies:
            for key in _data(owner).keys() - data.keys():
                delattr(owner, key)
            for key, value in data.items():
                if value is not _UNKNOWN:
                    setattr(owner, key, value)


_UNKNOWN = object()


def _data(owner: Any) -> dict[str, Any]:
    """What is plain data, by name; functions, classes and objects of other kinds are left alone."""
    return {key: value for key, value in vars(owner).items() if key[:2] != "__" and isinstance(value, _DATA)}


def _copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # what cannot be copied stays as it is
        return _UNKNOWN
