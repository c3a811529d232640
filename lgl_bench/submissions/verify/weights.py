"""Weights somebody else sent: held against the model they claim to be of before anything is loaded from them."""

from __future__ import annotations

from pathlib import Path

import safetensors
import safetensors.torch
import torch

from lgl_bench.core.errors import DataError, LglBenchError
from lgl_bench.core.types import IntArray
from lgl_bench.plans.fits import ChainSpec
from lgl_bench.strategies.members import separated
from lgl_bench.strategies.memory import Memory, parse_memory
from lgl_bench.streams.stream import Stream
from lgl_bench.submissions.bundle.layout import MIB, BundleError
from lgl_bench.training.ensemble import build_members

_MAX_PARAMETER = 10_000
"""No width, depth or number of attention heads is larger: a model of a billion layers would never be built."""


def read_weights(path: Path, name: str, chain: ChainSpec, known: IntArray, features: int) -> bytes:
    """The weights of a fit, with the names, shapes and types of its model, and finite.

    Args:
        path: Where they are.
        name: What the file is called in messages.
        chain: Whose backbone and head, which must be built in.
        known: Classes of the fit.
        features: Columns of the stream's features.
    """
    wanted = _shapes(name, chain, known, features)
    expected = sum(shape.numel() * kind.itemsize for shape, kind in wanted.values())
    size = path.stat().st_size
    if not expected <= size <= expected + MIB:
        raise BundleError(f"{name} holds {size:,} bytes; the weights of its model take {expected:,} and a header")
    data = path.read_bytes()
    try:
        found = safetensors.torch.load(data)
    except (safetensors.SafetensorError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise BundleError(f"{name} is no safetensors file: {ascii(str(error))[:300]}") from error
    for tensor in sorted({*found, *wanted}):
        if tensor not in found or tensor not in wanted:
            where = "is missing" if tensor not in found else "has no place in its model"
            raise BundleError(f"{name}: the tensor {ascii(tensor[:200])} {where}")
        given, right = (found[tensor].shape, found[tensor].dtype), wanted[tensor]
        if given != right:
            raise BundleError(f"{name}: the tensor {tensor} is {_shown(given)}; its model has {_shown(right)}")
        if not found[tensor].isfinite().all():
            raise BundleError(f"{name}: the tensor {tensor} holds a value that is not finite")
    return data


def read_memory(path: Path, name: str, time: int, stream: Stream, members: int = 1) -> bytes:
    """What the strategy of a fit kept: vertices of the stream before a year, with their own labels.

    Args:
        path: Where it is.
        name: What the file is called in messages.
        time: The year that was scored with the fit.
        stream: Of the reviewer.
        members: Of an ensemble, each with a memory of its own.
    """
    data = path.read_bytes()
    try:
        memories = separated(parse_memory(data), members)
    except DataError as error:
        raise BundleError(f"{name}: {ascii(str(error))[:300]}") from error
    for memory in memories:
        _check_memory(memory, name, time, stream)
    return data


def _check_memory(memory: Memory, name: str, time: int, stream: Stream) -> None:
    places = [memory.vertices] if memory.edges is None else [memory.vertices, memory.edges.ravel()]
    there = int((stream.born < time).sum())
    if any(len(one) and not (one.min() >= 0 and one.max() < there) for one in places):
        raise BundleError(f"{name}: it remembers vertices that are not there before {time}")
    labelled = memory.labels >= 0
    if (stream.labels[memory.vertices[labelled]] != memory.labels[labelled]).any():
        raise BundleError(f"{name}: it remembers labels that are not those of the stream")


def _shapes(name: str, chain: ChainSpec, known: IntArray, features: int) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """Shapes and types of the tensors of a model, found without memory for them."""
    for parameter, value in chain.backbone_parameters:
        if isinstance(value, int | float) and not abs(value) <= _MAX_PARAMETER:
            raise BundleError(f"{name}: {parameter} = {value} of its backbone; at most {_MAX_PARAMETER:,} is built")
    try:
        with torch.device("meta"):
            shape = chain.backbone, chain.head, features, known, chain.parameters
            model = build_members(chain.members, *shape)
    except (LglBenchError, ArithmeticError, RuntimeError, TypeError, ValueError) as error:
        raise BundleError(f"{name}: its model cannot be built: {error}") from error
    return {tensor: (value.shape, value.dtype) for tensor, value in model.state_dict().items()}


def _shown(about: tuple[torch.Size, torch.dtype]) -> str:
    shape, kind = about
    return f"{str(kind).removeprefix('torch.')} of shape {tuple(shape)}"
