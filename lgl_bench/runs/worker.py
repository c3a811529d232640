"""Doing one unit of work, in whatever process or machine it lands: from plain values to plain values."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import pandas as pd

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import DataError, PluginError
from lgl_bench.core.expressions import parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.processes import peak_memory_mb
from lgl_bench.core.types import Graph, IntArray, Task, Truth
from lgl_bench.heads import heads
from lgl_bench.kernels.choice import use_kernels
from lgl_bench.plans.fits import Unit
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.plans.tasks import TaskCache, learned_up_to
from lgl_bench.runs.answer_columns import answer_table
from lgl_bench.runs.answering import TaskAnswers, add_oracle, add_parts, score_task
from lgl_bench.runs.isolation.requests import (
    Ask,
    Request,
    answer_here,
    dump_weights,
    fitted,
    restored,
    trained_again,
    use_threads,
    viewed,
)
from lgl_bench.runs.matrix_row import matrix_row
from lgl_bench.runs.orders import Done, Left, Order
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.scoring import Method, Trained
from lgl_bench.strategies import EMPTY, Memory, strategies
from lgl_bench.strategies.members import given_to, members_size, seal_members
from lgl_bench.strategies.memory import dump_memory, parse_memory
from lgl_bench.strategies.offers import Given
from lgl_bench.training.model import Model, predict_once
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
    built_in &= not chain.strategy.name or strategies.is_built_in(plugin_name(chain.strategy.name))
    if order.matrix and order.weights is not None:
        done = Done(matrix=_matrix(work, None if built_in else ask))
    elif built_in:
        done = _answer(work, on_epoch, ask)
    else:
        done = _answer_elsewhere(work, ask)
    return replace(done, seconds=time.perf_counter() - start)


@dataclass(frozen=True)
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
        strategy = parse(chain.strategy.name) if chain.strategy.name else None
        return Method(chain.backbone, chain.head, preset, detectors, thresholds, strategy, chain.members)

    @cached_property
    def given(self) -> Given:
        """What the unit's strategy is offered."""
        return self._given(self.task, self.order.left)

    @cached_property
    def given_before(self) -> Given | None:
        """What that of the fit before was offered; None if there is none."""
        before = self.order.before
        return None if before is None else self._given(self._task(before.unit), before.left)

    def _given(self, task: Task, left: Left | None) -> Given:
        strategy = self.order.unit.chain.strategy
        memory = EMPTY if left is None or left.memory is None else parse_memory(left.memory)
        earlier = None if left is None or not strategy.name else self._task(left.unit)
        return given_to(task, earlier, memory, strategy.past, strategy.graph, self.order.unit.chain.members)

    def _task(self, unit: Unit) -> Task:
        return self.tasks.tasks(self.order.unit.chain)[unit.index][0]


def _answer(work: _Work, on_epoch: Callable[[int, float], None] | None, ask: Ask) -> Done:
    """With the model in this process; only plugins that are not built in are asked elsewhere."""
    order, chain, method = work.order, work.order.unit.chain, work.method
    before = None
    if order.before is not None and work.given_before is not None:
        before = trained_again(method, order.before.weights, viewed(method, work.given_before, chain.seed))
    record = weights = memory = None
    if order.weights is None:
        model, year = fitted(method, work.given, before, chain.seed, chain.device, on_epoch)
        record, memory = _fit_record(work, year.fit, peak_memory_mb()), year.memory
        if year.fit.status != "ok":
            return Done(record)
        weights, now = dump_weights(model), Trained(model, year.task)
        record = _measured(record, work, memory)
    else:
        now = trained_again(method, order.weights, viewed(method, work.given, chain.seed))
    answers = score_task(now, before, None, method, chain.seed, work.truth, ask)
    kept = dump_memory(memory) if memory else None
    row = _row(work, now.model) if order.matrix else None
    done = Done(record, weights, _table(work, answers), answers.failed, memory=kept, matrix=row)
    return replace(done, scoring_seconds=answers.seconds)


def _answer_elsewhere(work: _Work, ask: Ask) -> Done:
    """The same, with the model and its strategy only in the process that answers the request."""
    order, chain, method = work.order, work.order.unit.chain, work.method
    task, earlier = work.given.task.task, work.given_before
    request = Request(
        method,
        chain.seed,
        task,
        order.weights,
        None if order.before is None or earlier is None else (earlier.task.task, order.before.weights),
        threads=chain.threads,
        device=chain.device,
        kernels=chain.kernels,
        given=work.given,
        before_given=earlier,
    )
    reply = ask(request)
    record = None if reply.fit is None else _fit_record(work, reply.fit, reply.peak_memory_mb)
    if record is not None and record.status != "ok":
        return Done(record)
    memory = EMPTY if reply.memory is None else _sent(reply.memory, work.given)
    record = None if record is None else _measured(record, work, memory)
    request = replace(request, weights=order.weights or reply.weights)
    assert reply.columns is not None and reply.confidence is not None
    predicted = task.known[reply.columns[task.scored]]
    answers = TaskAnswers(task, None, predicted=predicted, confidence=reply.confidence[task.scored])
    add_parts(answers, method.parts(), lambda part: ask(request.of(part)).part)
    add_oracle(answers, method, work.truth)
    kept = dump_memory(memory) if memory else None
    done = Done(record, reply.weights if record else None, _table(work, answers), answers.failed, memory=kept)
    return replace(done, scoring_seconds=answers.seconds)


def _sent(memory: bytes, given: Given) -> Memory:
    """What the process of a plugin says its strategy keeps, and no more."""
    try:
        return seal_members(parse_memory(memory), given)
    except DataError as error:
        raise PluginError(str(error)) from error


def _measured(record: FitRecord, work: _Work, memory: Memory) -> FitRecord:
    """The record with what is kept of the past."""
    strategy = work.order.unit.chain.strategy
    if not strategy.name:
        return record
    vertices, size = members_size(memory, work.given, strategy.past)
    return record.but(memory_vertices=vertices, memory_mb=size / 2**20)


def _matrix(work: _Work, ask: Ask | None) -> IntArray:
    """What the model says of every year; it is here, or in the process that is asked."""
    order, task, chain, method = work.order, work.task, work.order.unit.chain, work.method
    assert order.weights is not None
    if ask is None:
        return _row(work, restored(method, task, order.weights))
    request = Request(method, chain.seed, task, order.weights, None, threads=chain.threads, kernels=chain.kernels)

    def predict(graph: Graph) -> IntArray:
        columns = ask(request.on(graph)).columns
        assert columns is not None
        predicted: IntArray = task.known[columns]
        return predicted

    return matrix_row(predict, [one for one, _ in work.tasks.tasks(chain)], work.tasks.stream(chain))


def _row(work: _Work, model: Model) -> IntArray:
    """What a model in this process says of every year; graphs that it has answered on are not computed again."""
    chain = work.order.unit.chain
    return matrix_row(
        partial(predict_once, model), [one for one, _ in work.tasks.tasks(chain)], work.tasks.stream(chain)
    )


def _fit_record(work: _Work, fit: Fit | None = None, peak_memory_mb: float | None = None) -> FitRecord:
    """The record of a fit; without one, of a task that is skipped."""
    unit, task, before = work.order.unit, work.task, work.order.before
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
        trained_up_to=learned_up_to(task),
        epochs=None if fit is None else fit.epochs,
        loss=None if fit is None else fit.loss,
        seconds=None if fit is None else fit.seconds,
        peak_memory_mb=peak_memory_mb,
    )


def _table(work: _Work, answers: TaskAnswers) -> pd.DataFrame:
    """The answers as columns to store."""
    vertices = work.tasks.stream(work.order.unit.chain).ids[work.truth.vertices]
    told = answers.predicted, answers.confidence, answers.novelty, answers.neighbour, answers.rejected
    return answer_table(vertices, work.task.time, *told)
