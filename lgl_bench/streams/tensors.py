"""Graphs and features as DGL and torch want them, sharing memory with the stream's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lgl_bench.core.types import Features, Graph, Sparse

if TYPE_CHECKING:
    import torch


def to_dgl(graph: Graph) -> Any:
    """A DGL graph with an arc each way for every edge and no self-loops; nothing is copied."""
    import dgl
    import torch

    source, target = (torch.from_numpy(ends) for ends in graph.edges)
    return dgl.graph((source, target), num_nodes=graph.num_vertices)


def feature_tensor(features: Features) -> torch.Tensor:
    """Features as a tensor: dense, or sparse CSR."""
    import torch

    if not isinstance(features, Sparse):
        return torch.from_numpy(features)
    indptr, indices, values = (
        torch.from_numpy(array) for array in (features.indptr, features.indices, features.values)
    )
    return torch.sparse_csr_tensor(indptr, indices.long(), values, size=features.shape)
