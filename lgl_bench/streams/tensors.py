"""Graphs as DGL and arrays as torch want them, sharing memory with the stream's arrays."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from lgl_bench.core.types import Graph

if TYPE_CHECKING:
    import torch


def shared_tensor(array: npt.NDArray[Any]) -> torch.Tensor:
    """A tensor in the memory of an array. Torch knows no read-only tensors: nothing of lgl-bench writes into it."""
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def to_dgl(graph: Graph) -> Any:
    """A DGL graph with an arc each way for every edge and no self-loops; nothing is copied."""
    import dgl

    source, target = (shared_tensor(ends) for ends in graph.edges)
    return dgl.graph((source, target), num_nodes=graph.num_vertices)
