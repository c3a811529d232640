"""What a plan will cost, before anything is trained: rough by nature, and said to be.

Time counts the multiplications of a fit and divides by a speed measured once a backbone (one thread of a 2020s CPU);
memory counts features, activations and arcs; checkpoints are counted exactly but
for classes that become known on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lgl_bench.core.types import Sparse
from lgl_bench.runs.devices import cores
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.settings import Settings
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.units import ChainSpec, Unit
from lgl_bench.streams.stream import Stream

# Seconds a million multiply-adds of one epoch, seconds a step and layer whatever their size, and seconds a fit: fitted
# to the fits of the twins, acl-venues and arxiv-structure, rounded up.
_SPEED = {"gcn": 0.0004, "graphsage": 0.0006, "gat": 0.0004, "graph-mlp": 0.00004, "mlp": 0.0004}
_STEP = 0.001
_FIT = 0.03
# Scoring, deciding and grading beside an hour of training, in hours.
_SCORING = 0.25
# What a worker holds before it has read anything: Python, torch and DGL.
_WORKER_MB = 450


def estimate(plan: Plan, streams: dict[str, Stream], settings: Settings) -> dict[str, Any]:
    """Fits, answers, and roughly how long and how large."""
    store = RunStore(settings.out)
    anew = settings.fresh or settings.force
    missing = [unit for unit in plan.all_units if anew or store.fit(unit.key) is None]
    jobs = cores() if settings.jobs is None else settings.jobs
    seconds = (1 + _SCORING) * sum(fit_seconds(unit, streams[unit.chain.stream]) for unit in missing)
    answers = sum(len(plan.scored[chain]) * len(units) for chain, units in plan.units.items())
    answers += sum(
        len(plan.tried[chain]) * sum(unit.role == "validation" for unit in units) for chain, units in plan.units.items()
    )
    largest = max((memory_mb(chain, streams[chain.stream]) for chain in plan.units), default=0.0)
    sizes = {
        "all": sum(checkpoint_mb(chain, streams[chain.stream]) * len(units) for chain, units in plan.units.items()),
        "last": sum(checkpoint_mb(chain, streams[chain.stream]) for chain in plan.units),
        "none": 0.0,
    }
    return {
        "fits": len(plan.all_units),
        "fits_to_do": len(missing),
        "answers": answers,
        "jobs": jobs,
        "estimated_minutes": round(seconds / jobs / 60, 1),
        "estimated_memory_mb": round(jobs * (_WORKER_MB + largest)),
        "checkpoints_mb": round(sizes[settings.checkpoints], 3),
    }


def fit_seconds(unit: Unit, stream: Stream) -> float:
    """Time of one fit."""
    chain = unit.chain
    vertices, arcs, entries = _sizes(unit.time, stream)
    layers, hidden = int(chain.parameters.get("layers", 2)), _width(chain)
    steps = _steps(chain, vertices)
    work = float(entries * hidden) + (layers - 1) * vertices * hidden**2 + layers * arcs * hidden
    if chain.backbone == "graph-mlp":
        batch = min(vertices, 2000)
        work = (batch / max(vertices, 1)) * (entries * hidden) + 6 * batch * batch * hidden
    elif chain.backbone == "graphsage":
        # Every batch reads a large part of the graph.
        work *= min(steps, 5)
    return _FIT + chain.epochs * (steps * layers * _STEP + work / 1e6 * _SPEED.get(chain.backbone, 0.001))


def memory_mb(chain: ChainSpec, stream: Stream) -> float:
    """Memory of the largest fit of a chain."""
    vertices, arcs, entries = _sizes(stream.times[-1], stream)
    hidden, layers = _width(chain), int(chain.parameters.get("layers", 2))
    floats = entries * 3 + vertices * hidden * layers * 6 + arcs * (8 + 4 * int(chain.parameters.get("heads", 1)))
    if chain.backbone == "graph-mlp":
        floats += 3 * min(vertices, 2000) ** 2
    return floats * 4 / 2**20


def checkpoint_mb(chain: ChainSpec, stream: Stream) -> float:
    """Size of the weights of one fit, all classes known."""
    import torch

    from lgl_bench.training.model import build_model

    known = np.arange(max(2, stream.num_classes))
    shape = chain.backbone, chain.head, stream.features.shape[1], known, chain.parameters
    try:
        with torch.device("meta"):  # shapes without numbers: weights that would not fit are counted, not allocated
            model = build_model(*shape)
    except (NotImplementedError, RuntimeError):  # a plugin that computes with its weights needs the numbers
        model = build_model(*shape)
    return float(sum(weight.numel() * weight.element_size() for weight in model.state_dict().values())) / 2**20


def _sizes(time: int, stream: Stream) -> tuple[int, int, int]:
    """Vertices, arcs and stored feature entries up to a year."""
    graph = stream.upto(time).graph
    features = graph.features
    entries = int(features.indptr[-1] - features.indptr[0]) if isinstance(features, Sparse) else features.size
    return graph.num_vertices, graph.edges.shape[1], int(entries)


def _width(chain: ChainSpec) -> int:
    return int(chain.parameters.get("hidden", 64)) * int(chain.parameters.get("heads", 1))


def _steps(chain: ChainSpec, vertices: int) -> int:
    batch = float(chain.parameters.get("batch", 0))
    if chain.backbone != "graphsage" or not batch:
        return 1
    return max(1, round(1 / batch if batch < 1 else vertices / batch))
