"""Doing one unit of work, in whatever process or machine it lands: from plain values to plain values."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import safetensors.torch
import torch
from threadpoolctl import threadpool_limits

from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.types import IntArray, Task, Truth
from lgl_bench.runs.answers import Method, TaskAnswers, Trained, score_task, start_model, why_not
from lgl_bench.runs.matrix_row import matrix_row
from lgl_bench.runs.presets import Preset
from lgl_bench.runs.units import ChainSpec, ProtocolSetting, Unit
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.stream import Stream
from lgl_bench.training.model import Model, build_model
from lgl_bench.training.trainer import Fit, train


@dataclass(frozen=True, slots=True)
class Fitted:
    """A unit with the weights of its fit."""

    unit: Unit
    weights: bytes


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted of a unit.

    Attributes:
        unit: Which.
        detectors: Expressions to score.
        thresholds: Expressions, decided for each of the detectors.
        weights: Of the unit, where it was fitted before: then nothing is trained.
        before: Whose model the unit goes on from and is calibrated with (`lineage`); None if there is none.
        matrix: Whether the model is to answer for every year.
    """

    unit: Unit
    detectors: tuple[str, ...]
    thresholds: tuple[str, ...] = ()
    weights: bytes | None = None
    before: Fitted | None = None
    matrix: bool = False


@dataclass(slots=True)
class Done:
    """What came of an order.

    Attributes:
        key: Of the unit.
        noted: What fit.json holds; None where nothing was trained.
        weights: Of a new fit.
        answers: Columns to store; None where the task was skipped.
        failed: Reason per expression that could not be scored.
        seconds: Spent training and scoring.
        matrix: Accuracy on every year, where it was asked for.
    """

    key: str
    noted: dict[str, Any] | None = None
    weights: bytes | None = None
    answers: pd.DataFrame | None = None
    failed: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    matrix: dict[str, float | None] | None = None


def execute(order: Order, on_epoch: Callable[[int, float], None] | None = None) -> Done:
    """Fits the unit unless its weights are given, then scores and decides."""
    unit, chain = order.unit, order.unit.chain
    torch.set_num_threads(chain.threads)
    threadpool_limits(chain.threads)  # of numpy and scikit-learn: their sums change with threads too
    stream = _stream(chain.stream, chain.data_dir)
    task, truth = _task(chain, unit.index)
    done = Done(unit.key)
    skipped = why_not(task)
    if skipped:
        done.noted = {"status": "skipped", "reason": skipped, **_about(order, task)}
        return done
    start = time.perf_counter()
    if order.matrix and order.weights is not None:
        model = _restore(chain, task.known, stream, order.weights)
        seed = 0 if not stream.static else chain.seed
        tasks = [one for one, _ in _tasks(chain.stream, chain.data_dir, chain.protocol, seed)]
        done.matrix = matrix_row(model, tasks, stream)
        done.seconds = time.perf_counter() - start
        return done
    method = _method(chain, order)
    before = _before(order, stream)
    model, fit = _model(order, task, method, before, stream, on_epoch)
    if fit is not None:
        done.noted = {
            "status": fit.status,
            "reason": fit.reason,
            "epochs": fit.epochs,
            "loss": fit.loss,
            "seconds": fit.seconds,
            "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            **_about(order, task),
        }
        done.seconds = time.perf_counter() - start
        if fit.status != "ok":
            return done
        done.weights = dump_weights(model)
    answers = score_task(Trained(model, task), before, fit, method, chain.seed, truth)
    done.answers = _frame(answers, truth, task, stream)
    done.failed = answers.failed
    done.seconds = time.perf_counter() - start
    return done


def dump_weights(model: Model) -> bytes:
    """Weights as safetensors."""
    state = {name: value.contiguous() for name, value in model.state_dict().items()}
    return bytes(safetensors.torch.save(state))


def provide(name: str, data_dir: str | None, stream: Stream) -> None:
    """Lays a stream ready where there is no data folder to look in; it replaces one of the same name."""
    _provided[name, data_dir] = stream
    _stream.cache_clear()
    _tasks.cache_clear()


_provided: dict[tuple[str, str | None], Stream] = {}


@lru_cache(maxsize=4)
def _stream(name: str, data_dir: str | None) -> Stream:
    given = _provided.get((name, data_dir))
    return load(name, Path(data_dir) if data_dir else None) if given is None else given


def _task(chain: ChainSpec, index: int) -> tuple[Task, Truth]:
    # Years are the same for every seed, so that fits of all seeds share the graphs.
    seed = chain.seed if _stream(chain.stream, chain.data_dir).static else 0
    return _tasks(chain.stream, chain.data_dir, chain.protocol, seed)[index]


@lru_cache(maxsize=8)
def _tasks(name: str, data_dir: str | None, protocol: ProtocolSetting, seed: int) -> list[tuple[Task, Truth]]:
    return list(protocol.build().tasks(_stream(name, data_dir), seed))


def _method(chain: ChainSpec, order: Order) -> Method:
    preset = Preset("", chain.parameters, chain.training)
    wanted: tuple[Expression, ...] = tuple(parse(text) for text in order.detectors)
    return Method(chain.backbone, chain.head, preset, wanted, tuple(parse(text) for text in order.thresholds))


def _before(order: Order, stream: Stream) -> Trained | None:
    if order.before is None:
        return None
    chain = order.unit.chain
    task, _ = _task(chain, order.before.unit.index)
    return Trained(_restore(chain, task.known, stream, order.before.weights), task)


def _model(
    order: Order,
    task: Task,
    method: Method,
    before: Trained | None,
    stream: Stream,
    on_epoch: Callable[[int, float], None] | None,
) -> tuple[Model, Fit | None]:
    chain = order.unit.chain
    if order.weights is not None:
        return _restore(chain, task.known, stream, order.weights), None
    start = before if chain.protocol.build().chained else None
    training = chain.training if start is None else chain.training.continued()
    model = start_model(task, method, start, chain.seed)
    return model, train(model, task, training, chain.seed, on_epoch, chain.device)


def _restore(chain: ChainSpec, known: IntArray, stream: Stream, weights: bytes) -> Model:
    model = build_model(chain.backbone, chain.head, stream.features.shape[1], known, chain.parameters)
    model.load_state_dict(safetensors.torch.load(weights))
    return model.eval()


def _about(order: Order, task: Task) -> dict[str, Any]:
    learned = task.train.born[task.fit_mask]
    return {
        "key": order.unit.key,
        "parent": order.unit.parent,
        "continued_from": "" if order.before is None else order.before.unit.key,
        "time": task.time,
        "role": task.role,
        "fold": task.fold,
        "known": task.known.tolist(),
        # Where labels arrive late, or a year has none, not the last year of the graph.
        "trained_up_to": int(learned.max()) if len(learned) else None,
    }


def _frame(answers: TaskAnswers, truth: Truth, task: Task, stream: Stream) -> pd.DataFrame:
    columns: dict[str, Any] = {
        "vertex": stream.ids[truth.vertices],
        "time": np.full(len(truth.vertices), task.time, dtype=np.int64),
        "class_pred": answers.predicted,
        "confidence": answers.confidence,
    }
    columns |= {f"novelty:{name}": values for name, values in answers.novelty.items()}
    columns |= {f"neighbour:{name}": values for name, values in answers.neighbour.items()}
    columns |= {f"rejected:{name}|{threshold}": values for (name, threshold), values in answers.rejected.items()}
    return pd.DataFrame(columns)
