"""Doing one unit of work, in whatever process or machine it lands: from plain values to plain values."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.backbones import backbones
from lgl_bench.core.expressions import parse
from lgl_bench.core.processes import peak_memory_mb
from lgl_bench.core.types import Graph, IntArray, Task, Truth
from lgl_bench.heads import heads
from lgl_bench.kernels.choice import use_kernels
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.plans.tasks import TaskCache
from lgl_bench.runs.answer_columns import (
    CONFIDENCE,
    PREDICTED,
    TIME,
    VERTEX,
    neighbour_column,
    novelty_column,
    rejected_column,
)
from lgl_bench.runs.answering import TaskAnswers, add_oracle, add_parts, score_task
from lgl_bench.runs.isolation.requests import Ask, Request, answer_here, dump_weights, fitted, restored, use_threads
from lgl_bench.runs.matrix_row import matrix_row
from lgl_bench.runs.orders import Done, Order
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.scoring import Method, Trained
from lgl_bench.training.trainer import Fit


def execute(
    order: Order, tasks: TaskCache, on_epoch: Callable[[int, float], None] | None = None, ask: Ask = answer_here
) -> Done:
    """Fits the unit unless its weights are given, then scores and decides.

    Args:
        order: What is wanted.
        tasks: Of this process.
        on_epoch: Called with the epochs of a fit, if the model is built in.
        ask: Who answers for plugins that are not built in. A model with such a backbone or head is only ever there.
    """
    with use_kernels(order.unit.chain.kernels):
        return _execute(order, tasks, on_epoch, ask)


def _execute(order: Order, tasks: TaskCache, on_epoch: Callable[[int, float], None] | None, ask: Ask) -> Done:
    unit, chain = order.unit, order.unit.chain
    use_threads(chain.threads, chain.device)
    work = _Work(order, tasks, *tasks.tasks(chain)[unit.index])
    if work.task.skip_reason:
        return Done(_fit_record(work))
    start = time.perf_counter()
    built_in = backbones.is_built_in(chain.backbone) and heads.is_built_in(chain.head)
    if order.matrix:
        done = Done(matrix=_matrix(work, None if built_in else ask))
    elif built_in:
        done = _answer(work, on_epoch, ask)
    else:
        done = _answer_elsewhere(work, ask)
    return replace(done, seconds=time.perf_counter() - start)


@dataclass(frozen=True, slots=True)
class _Work:
    """An order with its task."""

    order: Order
    tasks: TaskCache
    task: Task
    truth: Truth

    @property
    def method(self) -> Method:
        order, chain = self.order, self.order.unit.chain
        preset = Preset("", chain.parameters, chain.training)
        detectors, thresholds = (tuple(map(parse, texts)) for texts in (order.detectors, order.thresholds))
        return Method(chain.backbone, chain.head, preset, detectors, thresholds)

    @property
    def earlier(self) -> tuple[Task, bytes] | None:
        """The task that the unit goes on from, with the weights of its model."""
        before = self.order.before
        if before is None:
            return None
        task, _ = self.tasks.tasks(self.order.unit.chain)[before.unit.index]
        return task, before.weights


def _answer(work: _Work, on_epoch: Callable[[int, float], None] | None, ask: Ask) -> Done:
    """With the model in this process; only plugins that are not built in are asked elsewhere."""
    order, task, chain, method = work.order, work.task, work.order.unit.chain, work.method
    earlier = work.earlier
    before = None if earlier is None else Trained(restored(method, *earlier), earlier[0])
    record = weights = None
    if order.weights is None:
        start = before if chain.protocol.build().chained else None
        model, fit = fitted(method, task, start, chain.seed, chain.device, on_epoch)
        record = _fit_record(work, fit, peak_memory_mb())
        if fit.status != "ok":
            return Done(record)
        weights = dump_weights(model)
    else:
        model = restored(method, task, order.weights)
    answers = score_task(Trained(model, task), before, None, method, chain.seed, work.truth, ask)
    return Done(record, weights, _table(work, answers), answers.failed)


def _answer_elsewhere(work: _Work, ask: Ask) -> Done:
    """The same, with the model only in the process that answers the request."""
    order, task, chain, method = work.order, work.task, work.order.unit.chain, work.method
    request = Request(
        method,
        chain.seed,
        task,
        order.weights,
        work.earlier,
        warm=chain.protocol.build().chained,
        threads=chain.threads,
        device=chain.device,
        kernels=chain.kernels,
    )
    reply = ask(request)
    record = None if reply.fit is None else _fit_record(work, reply.fit, reply.peak_memory_mb)
    if record is not None and record.status != "ok":
        return Done(record)
    request = replace(request, weights=order.weights or reply.weights)
    assert reply.columns is not None and reply.confidence is not None
    predicted = task.known[reply.columns[task.scored]]
    answers = TaskAnswers(task, None, predicted=predicted, confidence=reply.confidence[task.scored])
    add_parts(answers, method.parts(), lambda part: ask(request.of(part)).part)
    add_oracle(answers, method, work.truth)
    return Done(record, reply.weights if record else None, _table(work, answers), answers.failed)


def _matrix(work: _Work, ask: Ask | None) -> dict[str, float | None]:
    order, task, chain, method = work.order, work.task, work.order.unit.chain, work.method
    assert order.weights is not None
    if ask is None:
        model = restored(method, task, order.weights)

        def predict(graph: Graph) -> IntArray:
            model.forget()
            return model.predict(graph)
    else:
        request = Request(method, chain.seed, task, order.weights, None, threads=chain.threads, kernels=chain.kernels)

        def predict(graph: Graph) -> IntArray:
            columns = ask(request.on(graph)).columns
            assert columns is not None
            predicted: IntArray = task.known[columns]
            return predicted

    tasks = [one for one, _ in work.tasks.tasks(chain)]
    return matrix_row(predict, task.known, tasks, work.tasks.stream(chain))


def _fit_record(work: _Work, fit: Fit | None = None, peak_memory_mb: float | None = None) -> FitRecord:
    """The record of a fit; without one, of a task that is skipped."""
    unit, task, before = work.order.unit, work.task, work.order.before
    learned = task.train.born[task.fit_mask]
    return FitRecord(
        status="skipped" if fit is None else fit.status,
        reason=task.skip_reason if fit is None else fit.reason,
        key=unit.key,
        parent=unit.parent,
        continued_from="" if before is None else before.unit.key,
        time=task.time,
        role=task.role,
        fold=task.fold,
        known=task.known.tolist(),
        # If labels arrive late, or a year has none, not the last year of the graph.
        trained_up_to=int(learned.max()) if len(learned) else None,
        epochs=None if fit is None else fit.epochs,
        loss=None if fit is None else fit.loss,
        seconds=None if fit is None else fit.seconds,
        peak_memory_mb=peak_memory_mb,
    )


def _table(work: _Work, answers: TaskAnswers) -> pd.DataFrame:
    """The answers as columns to store."""
    truth = work.truth
    columns: dict[str, npt.NDArray[np.generic]] = {
        VERTEX: work.tasks.stream(work.order.unit.chain).ids[truth.vertices],
        TIME: np.full(len(truth.vertices), work.task.time, dtype=np.int64),
        PREDICTED: answers.predicted,
        CONFIDENCE: answers.confidence,
    }
    columns |= {novelty_column(name): values for name, values in answers.novelty.items()}
    columns |= {neighbour_column(name): values for name, values in answers.neighbour.items()}
    columns |= {rejected_column(*names): values for names, values in answers.rejected.items()}
    return pd.DataFrame(columns)
