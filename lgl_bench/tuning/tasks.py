"""What parameters may be chosen on: validation tasks, never a later year.

A temporal stream is cut after the year its first task scores, before anything else is done with it: no later vertex,
edge or label is there to be looked at. On a static graph a fit is scored on the held-out vertices of the graph it was
trained on, which has neither test vertices nor the left-out class; if new vertices are needed, on the protocol's
nested validation tasks.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Task, Truth, feature_rows
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.protocols import Protocol, protocols
from lgl_bench.streams.stream import Stream

Metric: TypeAlias = Literal["accuracy", "auroc"]


def validation_part(stream: Stream) -> Stream:
    """The stream up to the year that the first task scores; a static graph as it is."""
    t0 = stream.info.t0
    if t0 is None or stream.static or stream.index(t0) == len(stream.times) - 1:
        return stream
    years = stream.index(t0) + 2
    vertices, edges = stream.vertex_ends[years - 1], stream.edge_ends[years - 1]
    return replace(
        stream,
        ids=stream.ids[:vertices],
        born=stream.born[:vertices],
        labels=stream.labels[:vertices],
        features=feature_rows(stream.features, 0, vertices),
        arcs=stream.arcs[:, : 2 * edges],
        split=None if stream.split is None else stream.split[:vertices],
        times=stream.times[:years],
        vertex_ends=stream.vertex_ends[:years],
        edge_ends=stream.edge_ends[:years],
        names=None if stream.names is None else stream.names[:vertices],
    )


def validation_tasks(
    stream: Stream, setting: ProtocolSetting, metric: Metric, seed: int
) -> Iterator[tuple[Task, Truth]]:
    """The tasks parameters are chosen on."""
    for task, truth in _protocol(setting, metric, stream).tasks(stream, seed):
        if task.role == "validation":
            yield task, truth
        elif metric == "accuracy" and task.calibration is not None:
            yield _held_out(task)


def _protocol(setting: ProtocolSetting, metric: Metric, stream: Stream) -> Protocol:
    nested = metric == "auroc" and stream.static
    if nested and "nested" not in inspect.signature(protocols.get(setting.name)).parameters:
        raise UsageError(f"the {setting.name} protocol has no new class to choose on; use --metric accuracy")
    return replace(setting, nested=True if nested else None).build()


def _held_out(task: Task) -> tuple[Task, Truth]:
    """The held-out vertices of the training graph as a task of their own; the task's test graph is left behind."""
    vertices = task.calibration
    assert vertices is not None
    held = replace(task, role="validation", test=task.train.graph, scored=vertices)
    return held, Truth(task.train.labels[vertices], vertices)


def usable_metric(stream: Stream, setting: ProtocolSetting, asked: Metric | None) -> Metric:
    """The metric asked for; else AUROC if the validation task of a temporal stream has new vertices."""
    order: tuple[Metric, ...] = (asked,) if asked else ("accuracy",) if stream.static else ("auroc", "accuracy")
    reason = ""
    for metric in order:
        reason = _undefined_reason(stream, setting, metric)
        if not reason:
            return metric
    hint = "; use --metric accuracy" if asked == "auroc" else ""
    raise UsageError(f"{stream.name} cannot be tuned for {order[-1]}: {reason}{hint}")


def _undefined_reason(stream: Stream, setting: ProtocolSetting, metric: Metric) -> str:
    """Why no validation task has the metric; empty if one has."""
    reason = f"the {setting.name} protocol sets no validation vertices apart"
    for task, truth in validation_tasks(stream, setting, metric, 0):
        new = ~np.isin(truth.labels, task.known)
        if reason := task.skip_reason:
            continue
        if metric == "auroc" and not new.any():
            reason = f"no vertex of {task.time} that could be chosen on is of a new class"
        elif new.all():
            reason = f"no vertex of {task.time} that could be chosen on is of a known class"
        else:
            return ""
    return reason
