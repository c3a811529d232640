"""Speed of training and scoring: every ratio is measured in one run, one thread.

    python benchmarks/speed/training.py [--data-dir DIR] [--epochs 30]

Needs Cora and CiteSeer in the data folder, and arxiv-structure for the memory of Graph-MLP's batches; what is missing
is said and left out.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
import torch

from lgl_bench.backbones.layers.contrastive import Neighbourhood
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.core.errors import DataError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.detectors import detectors
from lgl_bench.plans.paper_presets import detector_preset, preset
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.streams.catalogue import load
from lgl_bench.training.model import build_model
from lgl_bench.training.trainer import TrainingParameters, train

import dgl  # isort: skip  after lgl_bench, which chooses its back end


class PlainGCN(torch.nn.Module):
    """The same model as anybody would write it: DGL's own layer on dense features."""

    def __init__(self, inputs: int, hidden: int, outputs: int, dropout: float) -> None:
        super().__init__()
        self.first = dgl.nn.GraphConv(inputs, hidden)
        self.second = dgl.nn.GraphConv(hidden, outputs)
        self.drop = torch.nn.Dropout(dropout)

    def forward(self, graph: dgl.DGLGraph, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        return self.second(graph, self.drop(torch.relu(self.first(graph, x))))


def per_epoch(run, epochs: int, repeat: int = 3) -> float:
    """Seconds an epoch: the shortest of several runs."""
    run(2)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run(epochs)
        times.append((time.perf_counter() - start) / epochs)
    return min(times)


def epochs_against_plain(name: str, data_dir: Path | None, epochs: int) -> None:
    """One training epoch of GCN with the paper's settings against plain DGL."""
    stream = load(name, data_dir)
    task, _ = next(LeaveClassOut().tasks(stream, 0))
    chosen = preset(name, "60-20-20", "gcn", "softmax")
    ours = build_model("gcn", "softmax", stream.features.shape[1], task.known, chosen.backbone)
    lr = chosen.training.lr

    def run_ours(count: int) -> None:
        train(ours, task, TrainingParameters(count, lr), seed=0)

    graph = inputs_of(task.train.graph).looped
    x = torch.from_numpy(task.train.graph.features.dense())
    fit = torch.from_numpy(np.flatnonzero(task.fit_mask))
    labels = torch.from_numpy(ours.columns(task.train.labels))[fit]
    plain = PlainGCN(x.shape[1], chosen.backbone["hidden"], len(task.known), chosen.backbone["dropout"])

    def run_plain(count: int) -> None:
        optimizer = torch.optim.Adam(plain.parameters(), lr=lr)
        for _ in range(count):
            plain.train()
            loss = torch.nn.functional.cross_entropy(plain(graph, x)[fit], labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    slow, fast = per_epoch(run_plain, epochs), per_epoch(run_ours, epochs)
    print(
        f"GCN epoch, {name}: dense features in plain DGL {slow * 1e3:.1f} ms, ours {fast * 1e3:.1f} ms, "
        f"{slow / fast:.1f} times faster"
    )


def scoring_against_training(data_dir: Path | None) -> None:
    """All detectors of the softmax head on Cora with GCN: their cost as a share of training."""
    stream = load("cora", data_dir)
    names = [n for n in detectors.names() if n not in ("react", "good") and "softmax" in detectors.get(n).heads]
    names += ["react(energy)", "good(odin)"]
    expressions = tuple(
        complete(parse(n), detectors, lambda d: detector_preset("cora", "60-20-20", "gcn", d)) for n in names
    )
    chosen = preset("cora", "60-20-20", "gcn", "softmax")
    results = {}
    for detector_set in ((), expressions):
        method = Method("gcn", "softmax", chosen, detector_set)
        start, fits = time.perf_counter(), 0.0
        for answers, _ in answer_tasks(stream, LeaveClassOut(), method, 0):
            fits += answers.fit.seconds if answers.fit else 0.0
        results[len(detector_set)] = (time.perf_counter() - start, fits)
    (without, _), (total, fits) = results[0], results[len(expressions)]
    print(
        f"scoring {len(expressions)} detectors of the softmax head on Cora: {total - without:.2f} s beside "
        f"{fits:.2f} s of training, {(total - without) / fits:.1%}"
    )


def batch_memory(data_dir: Path | None, draws: int = 5) -> None:
    """Extra memory of Graph-MLP's batch matrix on the whole arXiv graph."""
    stream = load("arxiv-structure", data_dir)
    graph = stream.upto(stream.times[-1]).graph
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rng = np.random.default_rng(0)
    for power in (2, 3):
        start = time.perf_counter()
        neighbourhood = Neighbourhood(graph, power)
        for _ in range(draws):
            neighbourhood.between(rng.permutation(graph.num_vertices)[:2000])
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(
            f"Graph-MLP batch matrix, arXiv graph, r = {power}: {used / 2**20:.2f} GiB of extra memory at the peak, "
            f"{(time.perf_counter() - start) / draws:.2f} s a draw"
        )


def main() -> None:
    """Prints every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--epochs", type=int, default=30)
    given = parser.parse_args()
    torch.set_num_threads(1)
    parts = [
        lambda: batch_memory(given.data_dir),
        lambda: epochs_against_plain("cora", given.data_dir, given.epochs),
        lambda: epochs_against_plain("citeseer", given.data_dir, given.epochs),
        lambda: scoring_against_training(given.data_dir),
    ]
    for part in parts:
        try:
            part()
        except DataError as error:
            print(f"left out: {error}")


if __name__ == "__main__":
    main()
