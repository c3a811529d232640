"""A plugin file whose strategies harm whoever shares a process with them; `EXPECTED` says what becomes of each.

All of them learn what is on offer and remember two vertices, and do their harm in one hook.
"""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import torch

from lgl_bench.runs.isolation import requests
from lgl_bench.strategies import FitView, Memory, Strategy, strategies
from lgl_bench.training import lifelong

FITTED = None
READ_ONLY = "read-only"

EXPECTED: dict[str, str | None] = {}
"""Per strategy: a part of the reason of its failure, or None if its fits are those of `remembers-two`."""


@strategies.register("remembers-two")
class RemembersTwo(Strategy):
    """What the others are without their harm."""

    def select(self, task, memory, seed):
        return FitView(task.labelled)

    def end(self, model, task, memory):
        return task.remember(task.labelled[:2], years=np.array([task.task.time]))


def harms(hook: str, expected: str | None):
    """Registers a strategy that does its harm in a hook; what it returns, if anything, is what the hook returns."""

    def register(harm):
        name = harm.__name__.replace("_", "-")
        EXPECTED[name] = expected

        def hooked(self, *given):
            usual = getattr(RemembersTwo, hook)(self, *given)
            found = harm(*given)
            return usual if found is None else found

        kind = type(harm.__name__, (RemembersTwo,), {hook: hooked})
        globals()[harm.__name__] = strategies.register(name)(kind)
        return kind

    return register


@harms("select", READ_ONLY)
def writes_labels(task, memory, seed):
    task.train.labels[:] = 0


@harms("select", READ_ONLY)
def writes_new(task, memory, seed):
    task.new[:] = True


@harms("select", READ_ONLY)
def writes_features(task, memory, seed):
    task.train.graph.features[:] = 0


@harms("end", READ_ONLY)
def writes_into_the_last_memory(model, task, memory):
    if len(memory):
        memory.vertices[:] = 0


@harms("end", FITTED)
def unlocks_and_writes(model, task, memory):
    for array in (task.train.labels, task.new, memory.vertices, *memory.arrays.values()):
        array.setflags(write=True)
        array[:] = 0


@harms("end", FITTED)
def forges_labels(model, task, memory):
    usual = RemembersTwo.end(None, model, task, memory)
    return Memory(usual.vertices, usual.labels + 1, None, usual.arrays)


@harms("end", FITTED)
def keeps_state_in_the_process(model, task, memory):
    assert not hasattr(Strategy, "kept")
    Strategy.kept = task.train.labels


@harms("end", FITTED)
def changes_the_process(model, task, memory):
    torch.set_default_dtype(torch.float64)
    np.seterr(all="raise")
    os.environ.clear()
    os.chdir("/")


@harms("end", "memory limit of 1,100 MiB")
def remembers_too_much(model, task, memory):
    return task.remember([], all=np.ones(300_000_000))


@harms("end", "arrays of numbers; 'some' is one of object")
def remembers_objects(model, task, memory):
    return task.remember([], some=np.array([object()]))


@harms("end", "must be whole numbers, not float64")
def remembers_no_numbers(model, task, memory):
    return Memory(np.array([np.nan]), np.array([0]))


@harms("end", "np.flatnonzero turns a mask")
def remembers_a_mask(model, task, memory):
    return task.remember(task.new)


@harms("end", "not in its training graph")
def remembers_the_future(model, task, memory):
    return Memory(np.array([10**6]), np.array([0]))


@harms("end", "not in its training graph")
def remembers_negative_places(model, task, memory):
    return Memory(np.array([-1]), np.array([0]))


@harms("end", "not ordered")
def remembers_backwards(model, task, memory):
    return Memory(task.positions[1::-1], np.zeros(2, dtype=np.int64))


@harms("end", "end of a strategy returned str")
def remembers_in_words(model, task, memory):
    return "everything"


def _unsealed(memory, task):
    return Memory(np.array([10**6]), np.array([0]))


@harms("begin", "not in its training graph")
def breaks_the_seal(model, previous, memory):
    lifelong.seal = _unsealed


@harms("begin", "what a fit remembers cannot be read")
def stores_garbage(model, previous, memory):
    requests.dump_memory = lambda memory: b"\xff" * 100


@harms("begin", "what a fit remembers cannot be read")
def stores_a_huge_header(model, previous, memory):
    requests.dump_memory = lambda memory: b"\xff\xff\xff\xff\xff\xff\xff\x7f" + b"{" * 1000


@harms("select", "no label on offer")
def selects_the_unlabelled(task, memory, seed):
    return FitView(np.arange(len(task.positions)) if len(memory) else np.array([len(task.positions)]))


@harms("select", "numbers of vertices")
def selects_a_mask(task, memory, seed):
    return FitView(task.new)


@harms("select", "select of a strategy returned list")
def selects_a_list(task, memory, seed):
    return [1, 2]


@harms("select", "positive numbers, one per vertex")
def weighs_below_zero(task, memory, seed):
    return FitView(task.labelled, -np.ones(len(task.labelled)))


@harms("training", "returned int, not TrainingParameters")
def trains_for_ever(parameters, previous, memory):
    return 10**9


@harms("penalty", "the loss was nan in epoch 1")
def punishes_without_measure(model, outputs):
    return torch.tensor(float("nan"))


@harms("after_backward", "the loss was nan in epoch 2")
def spoils_gradients(model):
    for weight in model.parameters():
        weight.grad = torch.full_like(weight, float("inf"))


@harms("select", "no luck in select")
def raises_in_select(*given):
    raise RuntimeError("no luck in select")


@harms("training", "no luck in training")
def raises_in_training(*given):
    raise RuntimeError("no luck in training")


@harms("begin", "no luck in begin")
def raises_in_begin(*given):
    raise RuntimeError("no luck in begin")


@harms("penalty", "no luck in penalty")
def raises_in_penalty(*given):
    raise RuntimeError("no luck in penalty")


@harms("after_backward", "no luck in after_backward")
def raises_in_after_backward(*given):
    raise RuntimeError("no luck in after_backward")


@harms("end", "no luck in end")
def raises_in_end(*given):
    raise RuntimeError("no luck in end")


@harms("begin", "SystemExit: 4")
def exits(*given):
    sys.exit(4)


@harms("end", "SIGKILL")
def kills_itself(*given):
    os.kill(os.getpid(), signal.SIGKILL)
