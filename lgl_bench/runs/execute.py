"""Doing one unit of work, in whatever process or machine it lands: from plain values to plain values."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.backbones import backbones
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.types import Graph, IntArray, Task, Truth
from lgl_bench.heads import heads
from lgl_bench.runs.answers import TaskAnswers, add_oracle, add_parts, score_task, why_not
from lgl_bench.runs.matrix_row import matrix_row
from lgl_bench.runs.presets import Preset
from lgl_bench.runs.requests import Ask, Request, answer_here, dump_weights, fitted, restored, use_threads
from lgl_bench.runs.scoring import Method, Trained
from lgl_bench.runs.units import ChainSpec, ProtocolSetting, Unit
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.stream import Stream
from lgl_bench.training.trainer import Fit


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


def execute(order: Order, on_epoch: Callable[[int, float], None] | None = None, ask: Ask = answer_here) -> Done:
    """Fits the unit unless its weights are given, then scores and decides.

    Args:
        order: What is wanted.
        on_epoch: Is told the epochs of a fit, if the model is built in.
        ask: Who answers for plugins that are not built in. A model with such a backbone or head is only ever there.
    """
    unit, chain = order.unit, order.unit.chain
    use_threads(chain.threads)
    stream = _stream(chain.stream, chain.data_dir)
    task, truth = _task(chain, unit.index)
    done = Done(unit.key)
    skipped = why_not(task)
    if skipped:
        done.noted = {"status": "skipped", "reason": skipped, **_about(order, task)}
        return done
    start = time.perf_counter()
    own = backbones.is_built_in(chain.backbone) and heads.is_built_in(chain.head)
    if order.matrix and order.weights is not None:
        done.matrix = _matrix(order, task, stream, None if own else ask)
    elif own:
        _answer(order, task, truth, done, on_epoch, ask)
    else:
        _answer_elsewhere(order, task, truth, done, ask)
    done.seconds = time.perf_counter() - start
    return done


def _answer(
    order: Order, task: Task, truth: Truth, done: Done, on_epoch: Callable[[int, float], None] | None, ask: Ask
) -> None:
    """With the model in this process; only plugins that are not built in are asked elsewhere."""
    chain, method = order.unit.chain, _method(order)
    earlier = _earlier(order)
    before = None if earlier is None else Trained(restored(method, *earlier), earlier[0])
    if order.weights is None:
        start = before if chain.protocol.build().chained else None
        model, fit = fitted(method, task, start, chain.seed, chain.device, on_epoch)
        done.noted = _fit_record(order, task, fit, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        if fit.status != "ok":
            return
        done.weights = dump_weights(model)
    else:
        model = restored(method, task, order.weights)
    answers = score_task(Trained(model, task), before, None, method, chain.seed, truth, ask)
    _note(done, answers, truth, _stream(chain.stream, chain.data_dir))


def _answer_elsewhere(order: Order, task: Task, truth: Truth, done: Done, ask: Ask) -> None:
    """With the model nowhere but where it is asked."""
    chain, method = order.unit.chain, _method(order)
    warm = chain.protocol.build().chained
    request = Request(
        method,
        chain.seed,
        task,
        order.weights,
        _earlier(order),
        warm=warm,
        threads=chain.threads,
        device=chain.device,
    )
    reply = ask(request)
    if reply.fit is not None:
        done.noted = _fit_record(order, task, reply.fit, reply.peak_memory_mb)
        if reply.fit.status != "ok":
            return
        done.weights = reply.weights
    request = replace(request, weights=order.weights or reply.weights)
    assert reply.columns is not None and reply.confidence is not None
    predicted = task.known[reply.columns[task.scored]]
    answers = TaskAnswers(task, None, predicted=predicted, confidence=reply.confidence[task.scored])
    add_parts(answers, method.parts(), lambda part: ask(request.of(part)).part)
    add_oracle(answers, method, truth)
    _note(done, answers, truth, _stream(chain.stream, chain.data_dir))


def _matrix(order: Order, task: Task, stream: Stream, ask: Ask | None) -> dict[str, float | None]:
    chain, method = order.unit.chain, _method(order)
    assert order.weights is not None
    seed = 0 if not stream.static else chain.seed
    tasks = [one for one, _ in _tasks(chain.stream, chain.data_dir, chain.protocol, seed)]
    if ask is None:
        model = restored(method, task, order.weights)

        def predict(graph: Graph) -> IntArray:
            model.forget()
            return model.predict(graph)
    else:
        request = Request(method, chain.seed, task, order.weights, None, threads=chain.threads)

        def predict(graph: Graph) -> IntArray:
            columns = ask(request.on(graph)).columns
            assert columns is not None
            predicted: IntArray = task.known[columns]
            return predicted

    return matrix_row(predict, task.known, tasks, stream)


def provide(name: str, data_dir: str | None, stream: Stream) -> None:
    """Lays a stream ready where there is no data folder to look in; it replaces one of the same name."""
    _provided[name, data_dir] = stream
    _stream.cache_clear()
    _tasks.cache_clear()


def forget_streams() -> None:
    """Lets go of every stream, and reads those of the data folder again when they are asked for."""
    _provided.clear()
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


def _method(order: Order) -> Method:
    chain = order.unit.chain
    preset = Preset("", chain.parameters, chain.training)
    wanted: tuple[Expression, ...] = tuple(parse(text) for text in order.detectors)
    return Method(chain.backbone, chain.head, preset, wanted, tuple(parse(text) for text in order.thresholds))


def _earlier(order: Order) -> tuple[Task, bytes] | None:
    if order.before is None:
        return None
    task, _ = _task(order.unit.chain, order.before.unit.index)
    return task, order.before.weights


def _fit_record(order: Order, task: Task, fit: Fit, peak_memory_mb: float) -> dict[str, Any]:
    return {
        "status": fit.status,
        "reason": fit.reason,
        "epochs": fit.epochs,
        "loss": fit.loss,
        "seconds": fit.seconds,
        "peak_memory_mb": peak_memory_mb,
        **_about(order, task),
    }


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


def _note(done: Done, answers: TaskAnswers, truth: Truth, stream: Stream) -> None:
    task = answers.task
    columns: dict[str, Any] = {
        "vertex": stream.ids[truth.vertices],
        "time": np.full(len(truth.vertices), task.time, dtype=np.int64),
        "class_pred": answers.predicted,
        "confidence": answers.confidence,
    }
    columns |= {f"novelty:{name}": values for name, values in answers.novelty.items()}
    columns |= {f"neighbour:{name}": values for name, values in answers.neighbour.items()}
    columns |= {f"rejected:{name}|{threshold}": values for (name, threshold), values in answers.rejected.items()}
    done.answers = pd.DataFrame(columns)
    done.failed = answers.failed
