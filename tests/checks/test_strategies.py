"""Strategies that are broken on purpose: each fails the check made for it, with a message that says what is wrong."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from lgl_bench.checks import CHECKS, check_plugin
from lgl_bench.checks.plugin_state import forgotten
from lgl_bench.core.types import Task
from lgl_bench.strategies import EMPTY, FitView, Strategy, strategies
from lgl_bench.strategies.memory import Memory

GLOBAL = {"labels": np.empty(0, dtype=np.int64)}


@pytest.fixture
def failures(check):
    return lambda plugin: check(strategies, "strategies", plugin)


class Sound(Strategy):
    """A replay of the first vertices of each class."""

    def __init__(self, size: int = 20) -> None:
        self.size = size

    def select(self, task, memory, seed):
        return FitView(task.labelled)

    def picked(self, task):
        each = max(1, self.size // len(task.known))
        labels = task.train.labels
        return np.concatenate([np.flatnonzero(labels == one)[:each] for one in task.known])[: self.size]

    def end(self, model, task, memory):
        return task.remember(self.picked(task))


class All(Sound):
    past = "all"


class WeighsLabels(Sound):
    """Any change of what `secret` returns moves the weights."""

    def secret(self, task):
        raise NotImplementedError

    def select(self, task, memory, seed):
        labels = np.asarray(self.secret(task), dtype=np.int64)
        return FitView(task.labelled, 1 + np.resize(np.append(labels, 0), len(task.labelled)) / 7)


class RemembersInItsClass(WeighsLabels):
    """Every label that was ever on offer."""

    seen: dict[int, int] = {}  # noqa: RUF012

    def secret(self, task):
        old = [self.seen[one] for one in task.positions[~task.new & ~task.remembered].tolist() if one in self.seen]
        return [one for one in old if one >= 0]

    def end(self, model, task, memory):
        self.seen.update(zip(task.positions.tolist(), task.train.labels.tolist(), strict=True))
        return super().end(model, task, memory)


class RemembersInItsModule(WeighsLabels):
    def secret(self, task):
        return GLOBAL["labels"]

    def end(self, model, task, memory):
        GLOBAL["labels"] = np.array(task.train.labels[task.new])
        return super().end(model, task, memory)


class RemembersTheFirst(RemembersInItsClass):
    """What was seen first stays, whoever asks later."""

    def end(self, model, task, memory):
        for position, label in zip(task.positions.tolist(), task.train.labels.tolist(), strict=True):
            self.seen.setdefault(position, label)
        return Sound.end(self, model, task, memory)


class LooksBehindItsArray(WeighsLabels):
    """A slice knows the whole array that it was cut from."""

    past = "all"

    def secret(self, task):
        whole = task.train.labels
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        return whole[whole >= 0][::-1]


class LooksAtItsCallers(WeighsLabels):
    """Finds the task as it was cut among the variables of whoever called, with the labels that it gave up."""

    def secret(self, task):
        frame, found = sys._getframe(1), []
        while frame is not None:
            found += [value.train.labels for value in frame.f_locals.values() if isinstance(value, Task)]
            frame = frame.f_back
        return max(found, key=lambda labels: (labels >= 0).sum(), default=np.empty(0))


class DrawsFromEverybody(Sound):
    def end(self, model, task, memory):
        return task.remember(self.picked(task)[: 5 + np.random.randint(10)])  # noqa: NPY002


class DrawsAnew(Sound):
    def end(self, model, task, memory):
        rng = np.random.default_rng()
        return task.remember(rng.choice(task.labelled, 5, replace=False))


class SelectsFewerEachTime(Sound):
    def select(self, task, memory, seed):
        self.calls_ = getattr(self, "calls_", 0) + 1
        return FitView(task.labelled[self.calls_ :])


class CountsInItsClass(Sound):
    """Nothing of labels: how many fits there were."""

    fits = 0

    def select(self, task, memory, seed):
        return FitView(task.labelled[self.fits :])

    def end(self, model, task, memory):
        type(self).fits += 1
        return super().end(model, task, memory)


class WritesIntoAnOldMemory(Sound):
    kept: list[np.ndarray] = []  # noqa: RUF012

    def end(self, model, task, memory):
        for one in self.kept:
            one += 1
        self.kept.append(np.zeros(3))
        return task.remember(self.picked(task), counts=self.kept[-1])


class Hoards(Sound):
    def picked(self, task):
        return task.labelled


class OnlyOldClasses(Sound):
    def select(self, task, memory, seed):
        return FitView(task.labelled[np.isin(task.train.labels[task.labelled], task.known[:3])])


class NeedsNewLabels(Sound):
    def select(self, task, memory, seed):
        if task.recent.any():
            np.flatnonzero(task.new)[0]
        return FitView(task.labelled)


class NeedsNewVertices(Sound):
    def select(self, task, memory, seed):
        task.positions[task.recent].min()
        return FitView(task.labelled)


class NeedsEdges(Sound):
    def end(self, model, task, memory):
        task.train.graph.edges.max()
        return super().end(model, task, memory)


class ChangesAParameter(Sound):
    def end(self, model, task, memory):
        found = super().end(model, task, memory)
        self.size = 3
        return found


class ChangesTheModelOfTheYearBefore(Sound):
    def begin(self, model, previous, memory):
        if previous is not None:
            with torch.no_grad():
                next(previous.parameters()).mul_(1.1)


class ChangesTheModelInTheEnd(Sound):
    def end(self, model, task, memory):
        with torch.no_grad():
            next(model.parameters()).mul_(1.1)
        return super().end(model, task, memory)


class WritesLabels(Sound):
    def select(self, task, memory, seed):
        task.train.labels[0] = 1
        return super().select(task, memory, seed)


class InsistsOnWriting(Sound):
    """What is read-only is made writable first."""

    def end(self, model, task, memory):
        found = super().end(model, task, memory)
        task.new.setflags(write=True)
        task.new[:3] = ~task.new[:3]
        return found


UNSEEN, STORED = "learns nothing from labels it may not see", "goes on from what is stored"
BROKEN = [
    (DrawsFromEverybody, "learns the same under the same seed", "draw from the seed"),
    (SelectsFewerEachTime, "selects the same again", "when it was asked again"),
    (LooksBehindItsArray, UNSEEN, "labels of the future"),
    (LooksAtItsCallers, UNSEEN, "that it did not keep"),
    (CountsInItsClass, STORED, "not in the class or the module"),
    (WritesIntoAnOldMemory, "stores all that it remembers", "changed after `end` had returned it"),
    (Hoards, "remembers no more labels than its size", "with size = 5 it remembers"),
    (OnlyOldClasses, "learns a class that becomes known", "were not trained"),
    (NeedsNewLabels, "survives a year without labels", "IndexError"),
    (NeedsNewVertices, "survives a year without new vertices", "ValueError"),
    (NeedsEdges, "survives graphs without edges", "ValueError"),
    (ChangesAParameter, "keeps its parameters", "size"),
    (ChangesTheModelOfTheYearBefore, "leaves what it is given as it was", "the model of the year before changed; copy"),
    (ChangesTheModelInTheEnd, "leaves what it is given as it was", "in `end` the model changed; copy"),
    (InsistsOnWriting, "leaves what it is given as it was", "the task changed; copy"),
]


@pytest.mark.parametrize("plugin", [Sound, All])
def test_a_sound_strategy_fails_nothing(failures, plugin):
    assert failures(plugin) == {}


@pytest.mark.parametrize(("plugin", "title", "said"), BROKEN, ids=[plugin.__name__ for plugin, *_ in BROKEN])
def test_a_broken_strategy_fails_the_check_made_for_it_and_no_other(failures, plugin, title, said):
    found = failures(plugin)
    assert list(found) == [title]
    assert said in found[title]


def test_every_check_has_a_strategy_that_fails_it():
    assert {title for _, title, _ in BROKEN} == {check.__name__.replace("_", " ") for check in CHECKS["strategies"]}


@pytest.mark.parametrize("plugin", [RemembersInItsClass, RemembersInItsModule])
def test_labels_kept_outside_the_memory_are_found_as_a_leak_and_as_what_a_resumed_chain_does_not_have(failures, plugin):
    assert set(failures(plugin)) == {UNSEEN, STORED}


def test_a_label_that_was_kept_first_is_found_too(failures):
    assert {UNSEEN, STORED} <= set(failures(RemembersTheFirst))
    assert RemembersTheFirst.seen == {}


def test_a_strategy_that_draws_without_a_seed_fails_with_the_seed_in_the_message(failures):
    assert "draw from the seed" in failures(DrawsAnew)["learns the same under the same seed"]


def test_a_strategy_that_writes_into_what_it_is_given_is_told_to_copy_it(failures):
    found = failures(WritesLabels)
    assert len(found) == len(CHECKS["strategies"])
    assert all("read-only" in reason and "copy what you change" in reason for reason in found.values())


def test_a_strategy_without_a_size_is_exempt_from_the_check_of_it():
    (found,) = [one for one in check_plugin("strategies", "finetune") if one.status == "exempt"]
    assert (found.check, found.reason) == ("remembers no more labels than its size", "it has no size")


class Holds(Strategy):
    number = 1
    items: list[int] = []  # noqa: RUF012

    def select(self, task, memory, seed):
        return FitView(task.labelled)


def test_what_a_class_and_its_module_hold_is_forgotten():
    with forgotten(Holds):
        Holds.number = 2
        Holds.items.append(3)
        Holds.added = 4
        GLOBAL["more"] = np.ones(1)
    assert (Holds.number, Holds.items, hasattr(Holds, "added")) == (1, [], False)
    assert set(GLOBAL) == {"labels"}


def test_a_memory_of_nothing_passes(failures):
    class Nothing(Sound):
        def end(self, model, task, memory):
            return EMPTY if self.size else Memory()

    assert failures(Nothing) == {}
