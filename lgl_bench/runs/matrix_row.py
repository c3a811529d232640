"""One row of the matrix of years: what a model, trained up to a year, says of the vertices of every year.

A year's vertices are answered on the graph as it was at the end of that year, whatever a strategy kept of it. What is
kept are classes alone, one for each labelled vertex of these years in the order of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import Graph, IntArray, Task
from lgl_bench.streams.stream import Stream


def matrix_years(times: Sequence[int], scored: Sequence[int]) -> tuple[int, ...]:
    """The years that models answer for: from the one before the first that is scored to the last that is.

    >>> matrix_years([1990, 1991, 1994, 1995, 1996], [1994, 1995])
    (1991, 1994, 1995)

    Args:
        times: Every year of the stream.
        scored: The years of the tasks.
    """
    before = max((time for time in times if time < min(scored)), default=min(scored))
    return tuple(time for time in times if before <= time <= max(scored))


def matrix_vertices(stream: Stream, years: Sequence[int]) -> IntArray:
    """Positions of the vertices that are answered for, in order."""
    within = (stream.born >= years[0]) & (stream.born <= years[-1])
    return np.flatnonzero(within & (stream.labels >= 0))


def matrix_row(predict: Callable[[Graph], IntArray], tasks: Sequence[Task], stream: Stream) -> IntArray:
    """The classes that one model gives to the vertices of every year, year by year.

    Args:
        predict: The model: a class for every vertex of a graph.
        tasks: Of its protocol.
        stream: Which vertices have labels; nothing else is read off them.

    Raises:
        PluginError: The tasks do not train on one year after the other.
    """
    last = tasks[-1]
    graphs = {task.train.time: (task.train.graph, task.train.first) for task in tasks}
    graphs[last.time] = last.test, last.train.first
    years = matrix_years(stream.times, [task.time for task in tasks])
    if tuple(graphs) != years:
        raise PluginError("the matrix of years needs tasks that train on one year after the other")
    vertices = matrix_vertices(stream, years)
    found = []
    for year, (graph, first) in graphs.items():
        own = vertices[stream.born[vertices] == year]
        found.append(predict(graph)[own - first])
    return np.concatenate(found).astype(np.int64)
