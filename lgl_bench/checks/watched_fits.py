"""Fits of a strategy in which everything that it is given is watched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lgl_bench.checks.chains import YearEnd, chain_method, planted_tasks, reread, walk_tasks
from lgl_bench.checks.plugin_state import forgotten
from lgl_bench.core.types import Graph, Snapshot, Sparse
from lgl_bench.runs.isolation.requests import dump_weights
from lgl_bench.runs.scoring import Trained, start_model
from lgl_bench.strategies import Strategy, strategies
from lgl_bench.strategies.memory import dump_memory
from lgl_bench.strategies.offers import Given
from lgl_bench.training.lifelong import fit_year


def watched_fits(name: str) -> Iterator[tuple[Strategy, list[str]]]:
    """Per year the strategy after its fit, and what it changed of all that it was given."""
    method = chain_method(name)
    with forgotten(strategies.get(name)):
        ends = walk_tasks(method, planted_tasks(method))
    for last, end in zip([None, *ends], ends, strict=False):
        previous = None if last is None else reread(method, last)
        strategy, given = method.build_strategy(), end.given
        from_model = None if previous is None or not strategy.warm else Trained(previous.model, previous.fit.task)
        model = start_model(given.task.task, method, from_model, 0)
        trained = _weights_before_end(strategy)
        before = _contents(given, previous)
        with forgotten(strategies.get(name)):
            old = None if previous is None else previous.model
            fit_year(model, old, strategy, given, method.preset.training, 0)
        del strategy.end
        after = _contents(given, previous)
        changed = [what for what, data in before.items() if data != after[what]]
        yield strategy, changed + ([] if trained == [dump_weights(model)] else ["in `end` the model"])


def _weights_before_end(strategy: Strategy) -> list[bytes]:
    """Will hold the weights as they are when `end` is called."""
    own = strategy.end
    found: list[bytes] = []

    def noted(model: Any, *rest: Any) -> Any:
        found.append(dump_weights(model))
        return own(model, *rest)

    strategy.end = noted  # type: ignore[method-assign, assignment]
    return found


def _contents(given: Given, previous: YearEnd | None) -> dict[str, list[bytes]]:
    """The bytes of everything a strategy is given, by what it is."""
    task = given.task
    arrays = (task.new, task.recent, task.remembered, task.positions, task.task.fit_mask, task.task.known)
    return {
        "the task": [*(np.ascontiguousarray(one).tobytes() for one in arrays), *_snapshot(task.train)],
        "the memory": [dump_memory(given.memory)],
        "the model of the year before": [] if previous is None else [dump_weights(previous.model)],
    }


def _snapshot(train: Snapshot) -> list[bytes]:
    graph: Graph = train.graph
    features = graph.features
    parts = [features.indptr, features.indices, features.values] if isinstance(features, Sparse) else [features]
    return [np.ascontiguousarray(one).tobytes() for one in (*parts, graph.edges, graph.born, train.labels)]
