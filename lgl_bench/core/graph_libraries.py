"""Graphs as other libraries hold them: DGL, PyG, NetworkX. The only place that calls these."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import UsageError

if TYPE_CHECKING:
    import torch

    from lgl_bench.core.types import Graph

_REMEDIES = {
    "dgl": ("DGL", "'pip install dgl', which has wheels for Python up to 3.11, or use to_pyg() or to_networkx()"),
    "torch_geometric": ("PyG", "'pip install torch-geometric'"),
    "networkx": ("NetworkX", "'pip install networkx'"),
}
"""By module, what the library is called and how it is installed."""


def library(module: str) -> Any:
    """A library that need not be there.

    Raises:
        UsageError: It is not installed; the message says how to install it.
    """
    name, remedy = _REMEDIES[module.partition(".")[0]]
    try:
        return importlib.import_module(module)
    except (ImportError, OSError) as error:  # DGL raises FileNotFoundError beside a torch it was not built for
        raise UsageError(f"{name} cannot be imported ({error}): {remedy}") from error


def dgl_graph(sources: torch.Tensor, targets: torch.Tensor, vertices: int) -> Any:
    """Arcs as a `dgl.DGLGraph`."""
    return library("dgl").graph((sources, targets), num_nodes=vertices)


def pyg_data(features: torch.Tensor, sources: torch.Tensor, targets: torch.Tensor, **more: torch.Tensor) -> Any:
    """Features and arcs as a `torch_geometric.data.Data`."""
    import torch

    data = library("torch_geometric.data")
    return data.Data(x=features, edge_index=torch.stack([sources, targets]), **more)


class Convertible:
    """What can be handed to another library: write `_exported`.

    Vertices keep their numbers 0..n-1; every undirected edge is two arcs. What is known of vertices goes along:
    `time`, the year each appeared; `label`, its class or -1, if labels may be seen; `id`, as its source numbers it.
    """

    __slots__ = ()

    def _exported(self) -> tuple[Graph, dict[str, npt.NDArray[Any]]]:
        """The graph, and what is known of its vertices, by name."""
        raise NotImplementedError

    def to_dgl(self) -> Any:
        """As a `dgl.DGLGraph`: `ndata` holds `feat`, `time`, and `label` and `id` if they are known. Features dense."""
        graph, columns = self._exported()
        tensors = {name: _tensor(values) for name, values in columns.items()}
        made = dgl_graph(_tensor(graph.edges[0]), _tensor(graph.edges[1]), graph.num_vertices)
        made.ndata.update({"feat": _tensor(dense(graph)), **tensors})
        return made

    def to_pyg(self) -> Any:
        """As a `torch_geometric.data.Data`: `x`, `edge_index`, `time`, and `y` and `id` if known. `x` is dense."""
        graph, columns = self._exported()
        tensors = {"y" if name == "label" else name: _tensor(values) for name, values in columns.items()}
        return pyg_data(_tensor(dense(graph)), _tensor(graph.edges[0]), _tensor(graph.edges[1]), **tensors)

    def to_networkx(self, *, features: bool = False) -> Any:
        """As a `networkx.Graph`, undirected; attributes of a vertex are `time`, and `label` and `id` if they are known.

        Args:
            features: Whether every vertex has its row as the attribute `features`.
        """
        graph, columns = self._exported()
        made = library("networkx").Graph()
        names = list(columns)
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        made.add_nodes_from((at, dict(zip(names, row, strict=True))) for at, row in enumerate(rows))
        if features:
            for at, row in enumerate(dense(graph)):
                made.nodes[at]["features"] = row
        # Arcs 2k and 2k + 1 are the two directions of an edge.
        made.add_edges_from(graph.edges[:, ::2].T.tolist())
        return made


def dense(graph: Graph) -> npt.NDArray[np.float32]:
    """The features of a graph as a dense array."""
    features = graph.features
    return features if isinstance(features, np.ndarray) else features.dense()


def _tensor(array: npt.NDArray[Any]) -> torch.Tensor:
    """A tensor with memory of its own: libraries write into theirs."""
    import torch

    return torch.from_numpy(np.array(array))
