"""Epochs of one contestant, timed when asked: what `training.py` starts a process of for each.

    python benchmarks/speed/epochs.py ours|dgl|pyg DATA_FOLDER

Lines in: `prepare STREAM BACKBONE`, then `epoch` as often as wanted. Lines out: an empty JSON object or an error, then
milliseconds of processor time an epoch. It runs on older checkouts too, so it uses nothing that is new.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import lgl_bench  # noqa: F401  chooses DGL's back end before DGL is imported
from lgl_bench.plans.paper_presets import Preset, preset
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.streams.catalogue import load
from lgl_bench.training.batches import training_data, walk
from lgl_bench.training.model import build_model

# A measurement takes at least this long, in as many epochs as that needs.
ENOUGH = 0.2
SPLIT = "60-20-20"


def ours(task: Any, chosen: Preset, backbone: str) -> Callable[[], None]:
    """An epoch as `train` has it."""
    columns = task.train.graph.features.shape[1]
    model = build_model(backbone, "softmax", columns, task.known, chosen.backbone)
    data = training_data(model, task, "cpu")
    model.head.begin(data.labels[data.vertices])
    return _stepping(model, chosen, walk(model.backbone, data))


def dgl(task: Any, chosen: Preset, backbone: str) -> Callable[[], None]:
    """The same model of DGL's own layers, on dense features."""
    import dgl
    import dgl.nn.pytorch as layers

    x, fit, labels, edges = _tensors(task)
    graph = dgl.graph((edges[0], edges[1]), num_nodes=len(x))
    looped = dgl.add_self_loop(graph)
    looped.create_formats_()
    given = chosen.backbone
    classes, dropped = len(task.known), given.get("dropout", 0.5)
    if backbone == "gcn":
        net = Net([layers.GraphConv(*size) for size in _sizes(x, given, classes)], dropped)
        return _whole(net, chosen, lambda: net([looped] * given["layers"], x), fit, labels)
    if backbone == "gat":
        heads = given["heads"]
        sizes = enumerate(_sizes(x, given, classes))
        net = Net(
            [
                layers.GATConv(a if i == 0 else a * heads, b, heads, attn_drop=given["attn_dropout"])
                for i, (a, b) in sizes
            ],
            dropped,
            lambda h: h.flatten(1),
        )
        return _whole(net, chosen, lambda: net([looped] * given["layers"], x).mean(dim=1), fit, labels)
    if backbone == "graphsage":
        net = Net([layers.SAGEConv(*size, "mean") for size in _sizes(x, given, classes)], dropped)
        first, further = given["fanout"]
        sampler = dgl.dataloading.NeighborSampler([first, *[further] * (given["layers"] - 1)])
        size = int(given["batch"]) if given["batch"] >= 1 else int(np.ceil(given["batch"] * len(fit)))
        loader = dgl.dataloading.DataLoader(graph, fit, sampler, batch_size=size, shuffle=True, num_workers=0)
        every = torch.full((len(x),), -1).index_put((fit,), labels)

        def losses() -> Iterator[torch.Tensor]:
            for read, seeds, blocks in loader:
                yield torch.nn.functional.cross_entropy(net(blocks, x[read]), every[seeds])

        return _stepping(net, chosen, losses)
    raise LookupError("no such layer")


def pyg(task: Any, chosen: Preset, backbone: str) -> Callable[[], None]:
    """The same model of PyG's own layers, on dense features; of two ways to give it the arcs, the faster one."""
    import torch_geometric.nn as layers

    x, fit, labels, edges = _tensors(task)
    given = chosen.backbone
    classes, dropped = len(task.known), given.get("dropout", 0.5)
    if backbone == "gcn":
        ways = []
        ones = torch.sparse_coo_tensor(edges.flip(0), torch.ones(edges.shape[1]), (len(x), len(x))).to_sparse_csr()
        for arcs in (edges, ones):
            net = Net(
                [layers.GCNConv(*size, cached=True) for size in _sizes(x, given, classes)], dropped, arcs_last=True
            )
            ways.append(_whole(net, chosen, _pass(net, [arcs] * given["layers"], x), fit, labels))
        return _fastest(ways)
    if backbone == "gat":
        heads, last = given["heads"], given["layers"] - 1
        parts = [
            layers.GATConv(a if i == 0 else a * heads, b, heads=heads, concat=i != last, dropout=given["attn_dropout"])
            for i, (a, b) in enumerate(_sizes(x, given, classes))
        ]
        net = Net(parts, dropped, arcs_last=True)
        return _whole(net, chosen, _pass(net, [edges] * given["layers"], x), fit, labels)
    if backbone == "graphsage":
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader

        first, further = given["fanout"]
        # PyG counts from the vertices of the batch outwards: the last layer first.
        fanouts = [*[further] * (given["layers"] - 1), first]
        every = torch.full((len(x),), -1).index_put((fit,), labels)
        data = Data(x=x, edge_index=edges, y=every)
        size = int(given["batch"]) if given["batch"] >= 1 else int(np.ceil(given["batch"] * len(fit)))
        loader = NeighborLoader(data, fanouts, input_nodes=fit, batch_size=size, shuffle=True)
        net = Net([layers.SAGEConv(*size) for size in _sizes(x, given, classes)], dropped, arcs_last=True)

        def losses() -> Iterator[torch.Tensor]:
            for batch in loader:
                output = net([batch.edge_index] * given["layers"], batch.x)[: batch.batch_size]
                yield torch.nn.functional.cross_entropy(output, batch.y[: batch.batch_size])

        return _stepping(net, chosen, losses)
    raise LookupError("no such layer")


class Net(torch.nn.Module):
    """Layers with ReLU and dropout between them, as anybody would write them."""

    def __init__(self, parts: list[Any], dropped: float, between: Any = None, arcs_last: bool = False) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)
        self.drop = torch.nn.Dropout(dropped)
        self.between = between or (lambda h: h)
        self.arcs_last = arcs_last

    def forward(self, graphs: Any, h: torch.Tensor) -> torch.Tensor:
        """Outputs."""
        for i, (part, graph) in enumerate(zip(self.parts, graphs, strict=True)):
            h = part(h, graph) if self.arcs_last else part(graph, h)
            if i < len(self.parts) - 1:
                h = self.drop(torch.relu(self.between(h)))
        return h


def _tensors(task: Any) -> tuple[torch.Tensor, ...]:
    """Dense features, the training vertices, their classes, and the arcs."""
    features = task.train.graph.features
    x = torch.from_numpy(np.array(features.dense() if hasattr(features, "dense") else features))
    fit = np.flatnonzero(task.fit_mask)
    labels = np.searchsorted(task.known, task.train.labels[fit])
    return x, torch.from_numpy(fit), torch.from_numpy(labels), torch.from_numpy(np.array(task.train.graph.edges))


def _sizes(x: torch.Tensor, given: dict[str, Any], classes: int) -> list[tuple[int, int]]:
    widths = [x.shape[1], *[given["hidden"]] * (given["layers"] - 1), classes]
    return list(zip(widths[:-1], widths[1:], strict=True))


def _pass(net: Net, arcs: list[Any], x: torch.Tensor) -> Callable[[], torch.Tensor]:
    return lambda: net(arcs, x)


def _whole(
    net: Net, chosen: Preset, forward: Callable[[], torch.Tensor], fit: torch.Tensor, labels: torch.Tensor
) -> Callable[[], None]:
    """An epoch of one step on the whole graph."""

    def losses() -> Iterator[torch.Tensor]:
        yield torch.nn.functional.cross_entropy(forward()[fit], labels)

    return _stepping(net, chosen, losses)


def _stepping(net: torch.nn.Module, chosen: Preset, losses: Callable[[], Iterator[torch.Tensor]]) -> Callable[[], None]:
    """An epoch: a step of the optimiser after each loss."""
    optimizer = torch.optim.Adam(net.parameters(), lr=chosen.training.lr, fused=True)

    def epoch() -> None:
        net.train()
        for loss in losses():
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch


def _fastest(ways: list[Callable[[], None]]) -> Callable[[], None]:
    """The fastest of several ways; one that fails is left out."""
    times = {}
    for way in ways:
        try:
            way()
            times[min(_timed(way) for _ in range(3))] = way
        except (RuntimeError, NotImplementedError):
            continue
    return times[min(times)]


def _timed(epoch: Callable[[], None]) -> float:
    start = time.process_time()
    epoch()
    return time.process_time() - start


def main() -> None:
    """Answers lines until there are no more."""
    torch.set_num_threads(1)
    contestant, folder = {"ours": ours, "dgl": dgl, "pyg": pyg}[sys.argv[1]], Path(sys.argv[2])
    epoch, count = (lambda: None), 1
    for line in sys.stdin:
        match line.split():
            case ["prepare", stream, backbone]:
                try:
                    task, _ = next(LeaveClassOut(SPLIT).tasks(load(stream, folder), 0))
                    with torch.random.fork_rng():
                        torch.manual_seed(0)
                        epoch = contestant(task, preset(stream, SPLIT, backbone, "softmax"), backbone)
                        epoch()  # whatever is compiled or cached
                        count = max(1, int(ENOUGH / _timed(epoch)))
                    answer: Any = {}
                except (LookupError, ImportError, RuntimeError) as error:
                    answer = {"error": str(error).splitlines()[0]}
            case _:
                start = time.process_time()
                for _ in range(count):
                    epoch()
                answer = (time.process_time() - start) / count * 1e3
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
