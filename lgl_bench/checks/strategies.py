"""What every strategy must keep: above all, that nothing comes from the past but what it stored."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from lgl_bench.checks.chains import YearEnd, chain_method, fit_task, planted_tasks, reread, walk_tasks
from lgl_bench.checks.failure import Exempt, require
from lgl_bench.checks.planted import temporal_stream, without_edges
from lgl_bench.checks.plugin_state import forgotten
from lgl_bench.checks.watched_fits import watched_fits
from lgl_bench.core.expressions import signature
from lgl_bench.core.types import BoolArray, Task
from lgl_bench.runs.scoring import Method, Trained, start_model
from lgl_bench.strategies import Strategy, strategies
from lgl_bench.strategies.memory import dump_memory, parse_memory
from lgl_bench.streams.stream import Stream
from lgl_bench.training.lifelong import strategy_seed
from lgl_bench.training.model import Model

_FEW = 5
_LONG = 40


def learns_the_same_under_the_same_seed(name: str) -> None:
    """Same weights, memory and answers in every year, whatever others draw."""
    first, second = (_walk(name, chain_method(name), noise=noise) for noise in (1, 2))
    for one, other in zip(first, second, strict=True):
        found = one.differs(other)
        require(not found, f"two fits for {one.task.time} had different {found}; draw from the seed of `select`")


def selects_the_same_again(name: str) -> None:
    """A second call, and another object, choose the same vertices with the same weights."""
    for end in _walk(name, chain_method(name)):
        task, memory = end.given.task, end.given.memory
        seed = strategy_seed(0, task.task)
        first = chain_method(name).build_strategy()
        asked = (first, first, chain_method(name).build_strategy())
        views = [one.select(task, memory, seed) for one in asked]
        chosen = [(np.asarray(view.vertices).tobytes(), _weights(view.weights)) for view in views]
        require(
            chosen[0] == chosen[1] == chosen[2], f"select for {task.task.time} chose others when it was asked again"
        )


def learns_nothing_from_labels_it_may_not_see(name: str) -> None:
    """Other labels of the future, and of old vertices that it did not keep, change no byte of a fit."""
    method, stream = chain_method(name), temporal_stream()
    true = _walk(name, method)
    for number, end in enumerate(true):
        other = planted_tasks(method, _relabelled(stream, end))
        with forgotten(strategies.get(name)):
            # Its code sees the same years with other labels first: what it keeps outside its memory would be theirs.
            walk_tasks(method, other[:number])
            last = replace(reread(method, true[number - 1]), task=other[number - 1]) if number else None
            found = end.differs(fit_task(method, other[number], last))
        require(
            not found,
            f"changing labels of the future, or of old vertices that it did not keep, changed its {found} in the fit "
            f"for {end.task.time}; use what is offered in `task` and stored in `memory`, and nothing else",
        )


def goes_on_from_what_is_stored(name: str) -> None:
    """A chain that stops after any year and goes on from weights and memory in their files is one that did not stop."""
    method = chain_method(name)
    whole = _walk(name, method)
    for last, end in zip(whole[:-1], whole[1:], strict=True):
        with forgotten(strategies.get(name)):
            found = end.differs(fit_task(method, end.task, reread(method, last)))
        require(
            not found,
            f"stopped after the fit for {last.task.time} and taken up again, its {found} were others; what a year "
            "leaves to the next must be in its memory, not in the class or the module",
        )


def stores_all_that_it_remembers(name: str) -> None:
    """A memory is the same after it was written and read, and once the next years are over."""
    for end in _walk(name, chain_method(name)):
        stored = end.made["memory"]
        again = dump_memory(parse_memory(stored))
        require(stored == again, f"the memory of the fit for {end.task.time} is another one once it was read again")
        now = dump_memory(end.fit.memory)
        require(stored == now, f"the memory of the fit for {end.task.time} was changed after `end` had returned it")


def remembers_no_more_labels_than_its_size(name: str) -> None:
    """At most `size` vertices with a label."""
    if "size" not in signature(strategies.get(name))[1]:
        raise Exempt("it has no size")
    for end in _walk(name, chain_method(name, size=_FEW)):
        kept = int((end.fit.memory.labels >= 0).sum())
        require(kept <= _FEW, f"with size = {_FEW} it remembers the labels of {kept} vertices")


def learns_a_class_that_becomes_known(name: str) -> None:
    """The outputs of a new class are trained."""
    method = chain_method(name, epochs=_LONG)
    first, second = _walk(name, method, planted_tasks(method)[:2])
    new = np.setdiff1d(second.given.task.known, first.given.task.known)
    require(len(second.model.known) == len(second.given.task.known), "the model has no output for the new class")
    warm = method.build_strategy().warm
    before = start_model(second.given.task.task, method, Trained(first.model, first.fit.task) if warm else None, 0)
    shares = [_share(model, second, int(new[0])) for model in (before, second.model)]
    require(
        shares[1] > shares[0],
        f"vertices of a class that became known have it with probability {shares[0]:.3f} before and {shares[1]:.3f} "
        "after the fit: its outputs were not trained",
    )


def survives_a_year_without_labels(name: str) -> None:
    """No label is new; the year after is as usual."""
    method = chain_method(name)
    first, second, third = planted_tasks(method)
    labels = np.where(second.train.born > first.train.time, -1, second.train.labels)
    train = replace(second.train, labels=labels)
    bare = replace(second, train=train, fit_mask=labels >= 0, trained=None, known=first.known)
    _require_finite(_walk(name, method, [first, bare, third]))


def survives_a_year_without_new_vertices(name: str) -> None:
    """The graph is that of the year before; the year after is as usual."""
    method = chain_method(name)
    first, second, third = planted_tasks(method)
    _require_finite(_walk(name, method, [first, replace(first, time=second.time), third]))


def survives_graphs_without_edges(name: str) -> None:
    """Every vertex is isolated, in every year."""
    method = chain_method(name)
    tasks = [
        replace(task, train=replace(task.train, graph=without_edges(task.train.graph)), test=without_edges(task.test))
        for task in planted_tasks(method)
    ]
    _require_finite(_walk(name, method, tasks))


def keeps_its_parameters(name: str) -> None:
    """What hooks learn ends in `_`; all else stays as the constructor stored it."""
    for strategy, _ in watched_fits(name):
        before, after = _parameters(chain_method(name).build_strategy()), _parameters(strategy)
        changed = sorted(key for key in before | after if before.get(key) != after.get(key))
        require(
            not changed,
            f"a fit changed {', '.join(changed)}; what it learns must be kept in attributes that end in '_'",
        )


def leaves_what_it_is_given_as_it_was(name: str) -> None:
    """Task, memory and the model of the year before; and `end` the weights that were trained."""
    for _, changed in watched_fits(name):
        require(not changed, f"{' and '.join(changed)} changed; copy what you change")


CHECKS = (
    learns_the_same_under_the_same_seed,
    selects_the_same_again,
    learns_nothing_from_labels_it_may_not_see,
    goes_on_from_what_is_stored,
    stores_all_that_it_remembers,
    remembers_no_more_labels_than_its_size,
    learns_a_class_that_becomes_known,
    survives_a_year_without_labels,
    survives_a_year_without_new_vertices,
    survives_graphs_without_edges,
    keeps_its_parameters,
    leaves_what_it_is_given_as_it_was,
)


def _walk(name: str, method: Method, tasks: list[Task] | None = None, noise: int = 0) -> list[YearEnd]:
    """All years in one go; what the class keeps besides is gone afterwards."""
    with forgotten(strategies.get(name)):
        return walk_tasks(method, tasks or planted_tasks(method), noise)


def _relabelled(stream: Stream, end: YearEnd) -> Stream:
    """The stream with every label exchanged that a fit may not see, within its year, so that known classes stay."""
    seen = np.zeros(len(stream.labels), dtype=np.bool_)
    seen[end.given.task.positions[end.given.task.task.fit_mask]] = True
    hidden: BoolArray = ~seen & (stream.labels >= 0)
    labels, rng = stream.labels.copy(), np.random.default_rng(0)
    for year in stream.times:
        mine = np.flatnonzero(hidden & (stream.born == year))
        labels[mine] = labels[rng.permutation(mine)]
    return replace(stream, labels=labels)


def _share(model: Model, end: YearEnd, label: int) -> float:
    """Mean probability of a class, of its own training vertices."""
    task = end.given.task
    own = np.flatnonzero(task.train.labels == label)
    column = int(model.columns(np.array([label]))[0])
    return float(model.probabilities(task.train.graph)[own, column].mean())


def _require_finite(ends: list[YearEnd]) -> None:
    for end in ends:
        logits = end.model.outputs(end.fit.task.test).logits
        require(torch.isfinite(logits).all(), f"logits after the fit for {end.task.time} are not finite")


def _parameters(strategy: Strategy) -> dict[str, Any]:
    return {key: pickle.dumps(value) for key, value in vars(strategy).items() if not key.endswith("_")}


def _weights(weights: Any) -> bytes:
    return b"" if weights is None else np.asarray(weights, dtype=np.float64).tobytes()
