"""One row of the full matrix: a model, trained up to a year, on the vertices of every year.

A year's vertices are answered on the graph as it was at the end of that year.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lgl_bench.core.types import Graph, IntArray, Task
from lgl_bench.metrics.classification import accuracy
from lgl_bench.streams.stream import Stream


def matrix_row(
    predict: Callable[[Graph], IntArray], known: IntArray, tasks: list[Task], stream: Stream
) -> dict[str, float | None]:
    """Accuracy of one model on the vertices of every year from t0 on, by year; None if no class of them is known.

    Args:
        predict: The model: a class for every vertex of a graph.
        known: The classes it knows.
        tasks: Of its protocol.
        stream: Whose labels count.
    """
    found: dict[str, float | None] = {}
    last = tasks[-1]
    for time, graph, first in [*((t.train.time, t.train.graph, t.train.first) for t in tasks), _scored(last)]:
        vertices = _born(stream, time, first, graph)
        predicted = predict(graph)[vertices]
        found[str(time)] = accuracy(stream.labels[first + vertices], predicted, known).value
    return found


def _scored(task: Task) -> tuple[int, Graph, int]:
    return task.time, task.test, task.train.first


def _born(stream: Stream, time: int, first: int, graph: Graph) -> IntArray:
    """Labelled vertices of a graph that were born in a year."""
    born = stream.born[first : first + graph.num_vertices]
    labels = stream.labels[first : first + graph.num_vertices]
    return np.flatnonzero((born == time) & (labels >= 0))
