"""What a plan will cost, before anything is trained: a rough estimate, and labelled as one.

Time counts the multiplications of a fit and divides by a speed measured once per backbone (one thread of a 2020s CPU),
a slow one for a backbone that nobody has measured; memory counts features, activations and arcs; checkpoints are
counted exactly but for classes that become known on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lgl_bench.core.errors import LglBenchError, PluginError, reason_of
from lgl_bench.core.types import Sparse
from lgl_bench.plans.backbone_parameters import without_weights
from lgl_bench.plans.fits import ChainSpec, Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.devices import cores
from lgl_bench.runs.options import Settings
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.stream import Stream

if TYPE_CHECKING:
    from lgl_bench.training.model import Model


@dataclass(frozen=True, slots=True)
class _Cost:
    """What an epoch of a backbone costs.

    Attributes:
        seconds: Per million multiply-adds.
        batches: Whether it walks in batches of the parameter `batch`, if that is given.
        drawn: Vertices of its one step; None for all.
    """

    seconds: float
    batches: bool = False
    drawn: int | None = None


# Fitted to the fits of the twins and of the boards of record, rounded up; so are the seconds per step and layer,
# whatever their size, and the seconds per fit.
_COSTS = {
    "gcn": _Cost(0.0004),
    "graphsage": _Cost(0.0002, batches=True),
    "gat": _Cost(0.0004),
    "graph-mlp": _Cost(0.00004, drawn=2000),
    "mlp": _Cost(0.0004),
}
_UNKNOWN = _Cost(0.001, batches=True)
_STEP = 0.001
_FIT = 0.03
# Scoring, deciding and grading beside an hour of training, in hours.
_SCORING = 0.25
# What a worker holds before it has read anything: Python, torch and the kernels.
_WORKER_MB = 450
# Every batch reads a large part of the graph, so that from so many on no work is added.
_MAX_PASSES = 5


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
        "fits": sum(unit.chain.members for unit in plan.all_units),
        "fits_to_do": sum(unit.chain.members for unit in missing),
        "answers": answers,
        "jobs": jobs,
        "estimated_minutes": round(seconds / jobs / 60, 1),
        "estimated_memory_mb": round(jobs * (_WORKER_MB + largest)),
        "checkpoints_mb": round(sizes[settings.checkpoints], 3),
    }


def fit_seconds(unit: Unit, stream: Stream) -> float:
    """Time of one fit, all members of an ensemble counted."""
    chain = unit.chain
    cost = _COSTS.get(chain.backbone, _UNKNOWN)
    vertices, arcs, entries = _sizes(unit.time, stream)
    layers, hidden = int(_number(chain, "layers", 2)), _width(chain)
    per_epoch = _steps(chain, vertices) if cost.batches else 1
    if cost.drawn is None:
        work = float(entries * hidden) + (layers - 1) * vertices * hidden**2 + layers * arcs * hidden
        work *= min(per_epoch, _MAX_PASSES) / per_epoch
    else:
        batch = min(vertices, cost.drawn)
        work = (batch / max(vertices, 1)) * (entries * hidden) + 6 * batch * batch * hidden
    steps = chain.epochs * per_epoch
    # A fit that goes on from an earlier one takes fewer, but reads as much before the first.
    steps = steps if chain.steps is None else min(steps, chain.steps)
    return chain.members * (_FIT + steps * (layers * _STEP + work / 1e6 * cost.seconds))


def memory_mb(chain: ChainSpec, stream: Stream) -> float:
    """Memory of the largest fit of a chain."""
    vertices, arcs, entries = _sizes(stream.times[-1], stream)
    hidden, layers, heads = _width(chain), int(_number(chain, "layers", 2)), int(_number(chain, "heads", 1))
    floats = entries * 3 + vertices * hidden * layers * 6 + arcs * (8 + 4 * heads)
    drawn = _COSTS.get(chain.backbone, _UNKNOWN).drawn
    if drawn is not None:
        floats += 3 * min(vertices, drawn) ** 2
    return floats * 4 / 2**20


def checkpoint_mb(chain: ChainSpec, stream: Stream) -> float:
    """Size of the weights of one fit, all classes known."""
    from lgl_bench.training.ensemble import build_members

    known = np.arange(max(2, stream.num_classes))
    shape = chain.members, chain.backbone, chain.head, stream.features.shape[1], known, chain.parameters
    model = _built(chain, lambda: without_weights(lambda: build_members(*shape)))
    return float(sum(weight.numel() * weight.element_size() for weight in model.state_dict().values())) / 2**20


def _built(chain: ChainSpec, build: Callable[[], Model]) -> Model:
    """The model; whatever a plugin raises becomes a PluginError that names it."""
    try:
        return build()
    except LglBenchError:
        raise
    except Exception as error:
        raise PluginError(
            f"the backbone {chain.backbone} with {chain.parameters} and the head {chain.head} cannot be made: "
            f"{reason_of(error)}"
        ) from error


def _sizes(time: int, stream: Stream) -> tuple[int, int, int]:
    """Vertices, arcs and stored feature entries up to a year."""
    graph = stream.upto(time).graph
    features = graph.features
    entries = int(features.indptr[-1] - features.indptr[0]) if isinstance(features, Sparse) else features.size
    return graph.num_vertices, graph.edges.shape[1], int(entries)


def _width(chain: ChainSpec) -> int:
    return int(_number(chain, "hidden", 64)) * int(_number(chain, "heads", 1))


def _steps(chain: ChainSpec, vertices: int) -> int:
    """Steps of an epoch that walks in batches; one if no batch is given."""
    batch = _number(chain, "batch", 0)
    if batch <= 0:
        return 1
    return max(1, round(1 / batch if batch < 1 else vertices / batch))


def _number(chain: ChainSpec, name: str, default: float) -> float:
    """A parameter of the backbone; the default if it is not given, or is no number in a backbone of somebody's own."""
    value = chain.parameters.get(name, default)
    return float(value) if isinstance(value, int | float) else default
