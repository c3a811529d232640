"""What every protocol must keep: above all, that nothing of the future is seen."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from lgl_bench.checks.failure import require
from lgl_bench.checks.planted import SMALL, TRAINING, static_stream, temporal_stream
from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import complete, parse
from lgl_bench.core.types import Graph, IntArray, Sparse, Task, Truth
from lgl_bench.detectors import detectors
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.protocols import Protocol, protocols
from lgl_bench.runs.answering import answer_tasks
from lgl_bench.runs.scoring import Method
from lgl_bench.streams.stream import Stream, reorder

_MAX_TASKS = 4


def scores_only_vertices_with_a_label_that_training_did_not_see(name: str) -> None:
    """The scored vertices are labelled, none of them is in the loss, and in a stream they are born after t."""
    stream, protocol = _subject(name)
    for task, truth in _tasks(stream, protocol):
        require(len(task.scored) == len(truth.labels), "Task and Truth disagree on the number of scored vertices")
        require((truth.labels >= 0).all(), "a vertex without a label is scored")
        require((task.train.labels[task.fit_mask] >= 0).all(), "a vertex without a label is in the loss")
        if not stream.static:
            require((task.train.born < task.time).all(), f"training for {task.time} sees vertices born that year")
            old = task.test.num_vertices - (stream.born == task.time).sum()
            require((task.scored >= old).all(), f"a vertex born before {task.time} is scored")


def knows_the_classes_it_trains_on(name: str) -> None:
    """Known are exactly the classes of the training vertices, each once."""
    stream, protocol = _subject(name)
    for task, _ in _tasks(stream, protocol):
        trained = set(task.train.labels[task.fit_mask].tolist())
        require(
            set(task.known.tolist()) == trained and len(task.known) == len(trained),
            f"known {task.known.tolist()} are not the classes trained on, {sorted(trained)}",
        )


def shows_training_no_label_of_the_future(name: str) -> None:
    """Permuting every label that training may not see changes nothing that it sees."""
    stream, protocol = _subject(name)
    for number, (task, _) in enumerate(_tasks(stream, protocol)):
        other = next(islice(protocol.tasks(_permuted(stream, task, later=True), 0), number, None))[0]
        require(
            _seen(task) == _seen(other),
            f"task {number} (time {task.time}, fold '{task.fold}'): permuting labels of the future changed what "
            "training or the method sees",
        )


def returns_scores_that_do_not_depend_on_the_truth(name: str) -> None:
    """Permuting the labels of the scored vertices changes no score, bit for bit."""
    stream, protocol = _subject(name)
    texts = ("msp", "energy", "mahalanobis", "good(odin)")
    expressions = tuple(complete(parse(text), detectors) for text in texts)
    short = replace(TRAINING, epochs=5)
    method = Method("gcn", "softmax", Preset("check", dict(SMALL), short), expressions)
    first = list(islice(answer_tasks(stream, protocol, method, 0), 3))
    for number, (answers, _) in enumerate(first):
        other = _permuted(stream, answers.task, later=False)
        again, _ = next(islice(answer_tasks(other, protocol, method, 0), number, None))
        for text in answers.novelty:
            require(
                np.array_equal(answers.novelty[text], again.novelty[text]),
                f"permuting the labels of the scored vertices changed the scores of {text} in task {number}",
            )
        require(np.array_equal(answers.predicted, again.predicted), "permuting the scored labels changed predictions")


def finds_its_training_vertices_in_the_test_graph(name: str) -> None:
    """Those it names, if any, are the vertices of the loss, and none of them is scored."""
    stream, protocol = _subject(name)
    for task, _ in _tasks(stream, protocol):
        if task.trained is None:
            continue
        same = len(task.trained) == task.fit_mask.sum() and _rows(task.test, task.trained) == _rows(
            task.train.graph, np.flatnonzero(task.fit_mask)
        )
        require(
            same, "Task.trained are not the vertices of the loss, in their order; leave it None if they are not there"
        )
        require(not np.isin(task.trained, task.scored).any(), "Task.trained has a vertex that is scored")


def returns_the_same_tasks_again(name: str) -> None:
    """Same seed, same tasks."""
    stream, protocol = _subject(name)
    first, second = _tasks(stream, protocol), _tasks(stream, protocol)
    same = all(_seen(a) == _seen(b) for (a, _), (b, _) in zip(first, second, strict=True))
    require(same, "two walks under the same seed gave different tasks")


CHECKS = (
    scores_only_vertices_with_a_label_that_training_did_not_see,
    knows_the_classes_it_trains_on,
    shows_training_no_label_of_the_future,
    returns_scores_that_do_not_depend_on_the_truth,
    finds_its_training_vertices_in_the_test_graph,
    returns_the_same_tasks_again,
)


def _subject(name: str) -> tuple[Stream, Protocol]:
    """The protocol with its defaults, and the planted stream it accepts.

    A static protocol takes the public split if it can choose: a split drawn by class would itself depend on the
    labels that are permuted.
    """
    kind = protocols.get(name)
    try:
        protocol = kind(split="planetoid")  # type: ignore[call-arg]
    except TypeError:
        protocol = kind()
    for stream in (temporal_stream(), static_stream()):
        try:
            next(iter(protocol.tasks(stream, 0)))
        except UsageError:
            continue
        if getattr(protocol, "split", "") == "planetoid" and not stream.static:
            continue
        return stream, protocol
    raise UsageError(f"the protocol {name} accepts neither a temporal nor a static stream")


def _tasks(stream: Stream, protocol: Protocol) -> list[tuple[Task, Truth]]:
    return list(islice(protocol.tasks(stream, 0), _MAX_TASKS))


def _permuted(stream: Stream, task: Task, later: bool) -> Stream:
    """The stream with labels shuffled: of the scored vertices, or of everything later than training as well."""
    rng = np.random.default_rng(0)
    labels = stream.labels.copy()
    if stream.static:
        hidden = task.scored
    else:
        hidden = np.flatnonzero(stream.born >= task.time if later else stream.born == task.time)
    hidden = hidden[labels[hidden] >= 0]
    labels[hidden] = labels[rng.permutation(hidden)]
    return replace(stream, labels=labels)


def _rows(graph: Graph, vertices: IntArray) -> tuple[bytes, bytes]:
    """Features and years of some vertices."""
    rows = reorder(graph.features, vertices)
    return (rows.dense() if isinstance(rows, Sparse) else rows).tobytes(), graph.born[vertices].tobytes()


def _seen(task: Task) -> list[bytes]:
    """Everything a method is given."""
    parts: list[npt.NDArray[Any]] = [task.train.labels, task.fit_mask, task.train.born, task.scored, task.known]
    parts += [np.empty(0) if part is None else part for part in (task.calibration, task.trained)]
    for graph in (task.train.graph, task.test):
        features = graph.features
        parts += [features.indptr, features.indices, features.values] if isinstance(features, Sparse) else [features]
        parts.append(graph.edges)
    return [np.ascontiguousarray(part).tobytes() for part in parts]
