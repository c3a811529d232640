"""What a process that knows neither the truth nor the stream is asked: to fit, to predict, to score and decide.

A plugin that is not built in is only ever run on a request, in a process of its own (`isolation`) or, if the running
script registered it and no other process can load it, in this one, on a copy of everything.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import safetensors.torch
import torch
from threadpoolctl import threadpool_limits

from lgl_bench.backbones import backbones
from lgl_bench.core.errors import LglBenchError, PluginError, reason_of
from lgl_bench.core.guard import preserved_state
from lgl_bench.core.processes import peak_memory_mb
from lgl_bench.core.registry import PluginFile, Registry
from lgl_bench.core.seeds import derive, member_seed
from lgl_bench.core.types import FloatArray, Graph, IntArray, Task
from lgl_bench.detectors import detectors
from lgl_bench.heads import heads
from lgl_bench.kernels.choice import kernels_on, thread_free, use_kernels
from lgl_bench.kernels.threads import set_thread_count, thread_count
from lgl_bench.runs.isolation.packing import copied
from lgl_bench.runs.scoring import Method, Part, PartAnswers, Trained, calibration_of, names_in, score_part, start_model
from lgl_bench.strategies import strategies
from lgl_bench.strategies.members import pooled
from lgl_bench.strategies.memory import dump_memory
from lgl_bench.strategies.offers import Given
from lgl_bench.thresholds import thresholds
from lgl_bench.training.ensemble import EnsembleModel, build_members
from lgl_bench.training.lifelong import YearFit, fit_year, strategy_seed
from lgl_bench.training.model import Model
from lgl_bench.training.trainer import Fit


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Attributes:
        method: Backbone, head and their parameters; its detectors are not looked at.
        seed: Of the run.
        task: What may be learned from, and the graph to answer on.
        weights: Of the task's model; None if it is to be fitted, and its weights are part of the reply.
        before: The last task before it that was fitted, with the weights of its model.
        part: What is scored; None asks for the predicted classes.
        threads: See `use_threads`.
        device: Where a fit is computed.
        files: Plugin files to load first.
        kernels: That compute; "" for those of this process.
        given: What the strategy of the task is offered, if the model is only there; then `task` is that offer.
        before_given: The same for the task before.
        views: Without an offer, the task as the further members of an ensemble saw it.
        before_views: The same for the task before.
    """

    method: Method
    seed: int
    task: Task
    weights: bytes | None
    before: tuple[Task, bytes] | None
    part: Part | None = None
    threads: int = 1
    device: str = "cpu"
    files: tuple[PluginFile, ...] = ()
    kernels: str = ""
    given: Given | None = None
    before_given: Given | None = None
    views: tuple[Task, ...] = ()
    before_views: tuple[Task, ...] = ()

    def of(self, part: Part) -> Request:
        """The same model asked for a part."""
        return replace(self, part=part)

    def on(self, graph: Graph) -> Request:
        """The same model asked for the classes of another graph's vertices."""
        task = replace(self.task, test=graph, scored=np.arange(graph.num_vertices))
        alone = replace(self, part=None, task=task, given=None, before=None, before_given=None)
        return replace(alone, views=(), before_views=())

    def plugins(self) -> Iterator[tuple[Registry[Any], str]]:
        """Every plugin it takes, with where that is registered."""
        yield backbones, self.method.backbone
        yield heads, self.method.head
        if self.given is not None and self.method.strategy is not None:
            yield strategies, self.method.strategy.name
        if self.part is not None:
            yield from ((detectors, name) for name in names_in(self.part.detector))
            yield from ((thresholds, one.name) for one in self.part.thresholds)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request.

    Attributes:
        fit: What became of the fit, if there was one.
        weights: Of a fit that is ok.
        memory: What its strategy left; None if nothing.
        peak_memory_mb: Of the process, after a fit.
        columns: Per vertex of the test graph, which known class is predicted; None if a part was asked for.
        confidence: Probability of that class.
        answers: Of the part.
    """

    fit: Fit | None = None
    weights: bytes | None = None
    peak_memory_mb: float = 0.0
    columns: IntArray | None = None
    confidence: FloatArray | None = None
    answers: PartAnswers | None = None
    memory: bytes | None = None

    @property
    def part(self) -> PartAnswers:
        """The answers of the part that was asked for."""
        assert self.answers is not None
        return self.answers


Ask: TypeAlias = Callable[[Request], Reply]
"""Who answers requests. What a plugin raises becomes a PluginError with the reason."""


def answer_here(request: Request) -> Reply:
    """Answers in this process, on a copy of everything, and puts back what was changed in the process."""
    try:
        with preserved_state():
            return answer(copied(request))
    except (Exception, SystemExit) as error:  # a plugin may raise anything; only its own rows fail
        raise error if isinstance(error, LglBenchError) else PluginError(reason_of(error)) from error


def answer(request: Request) -> Reply:
    """Answers with the request's own objects, and leaves what plugins change in the process."""
    with use_kernels(request.kernels):
        use_threads(request.threads, request.device)
        return _answer(request)


def _answer(request: Request) -> Reply:
    method, seed = request.method, request.seed
    before = None
    if request.before is not None:
        task, weights = request.before
        given = request.before_given
        views = [task, *request.before_views] if given is None else viewed(method, given, seed)
        before = trained_again(method, weights, views)
    if request.weights is None:
        return _fit(request, before)
    views = [request.task, *request.views] if request.given is None else viewed(method, request.given, seed)
    now = trained_again(method, request.weights, views)
    task = now.task
    if request.part is None:
        return _predict(now.model, task)
    # A plugin that draws from global random numbers draws the same ones whatever ran before it.
    _seed_global(derive(seed, "plugin", task.time, task.fold, str(request.part.detector)))
    return Reply(answers=score_part(request.part, now, calibration_of(now, before, seed)))


def warm_up() -> None:
    """Imports kernels, and what torch leaves to the first step of an optimiser: no unit is to be charged for that."""
    kernels_on("cpu")
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.zeros(1)
    torch.optim.Adam([weight], fused=True).step()


def use_threads(count: int, device: str = "cpu") -> None:
    """Sets how many threads compute on a device.

    Sums of torch, numpy and scikit-learn change with threads. Those of native kernels do not: they take the threads,
    and the others stay at one.
    """
    set_thread_count(count)
    others = 1 if thread_free(device) else count
    torch.set_num_threads(others)
    threadpool_limits(others)


def threads_in_use() -> int:
    """How many threads compute on the CPU, as `use_threads` takes it."""
    return thread_count() if thread_free() else torch.get_num_threads()


def dump_weights(model: Model) -> bytes:
    """Weights as safetensors."""
    state = {name: value.contiguous() for name, value in model.state_dict().items()}
    return bytes(safetensors.torch.save(state))


def restored(method: Method, task: Task, weights: bytes) -> Model:
    """The model of a task with the weights it had."""
    features = task.train.graph.features.shape[1]
    shape = method.backbone, method.head, features, task.known, method.preset.backbone
    model = build_members(method.members, *shape)
    model.load_state_dict(safetensors.torch.load(weights))
    return model.eval()


def trained_again(method: Method, weights: bytes, views: Sequence[Task]) -> Trained:
    """A model with the weights it had, and what it was trained on: a view of the task for every member, if known."""
    model = restored(method, views[0], weights)
    if isinstance(model, EnsembleModel) and len(views) == method.members:
        model.views = tuple(views)
    return Trained(model, views[0])


def viewed(method: Method, given: Given, seed: int) -> list[Task]:
    """A task as its strategy saw it, for every member; one of a single model."""
    return [
        one.view(method.build_strategy(), strategy_seed(member_seed(seed, number), one.task.task))[0]
        for number, one in enumerate(given.members)
    ]


def fitted(
    method: Method,
    given: Given,
    before: Trained | None,
    seed: int,
    device: str = "cpu",
    on_epoch: Callable[[int, float], None] | None = None,
) -> tuple[Model, YearFit]:
    """A model fitted to what its strategy takes of a task, afresh or from where another one ended.

    The members of an ensemble are fitted one after the other, each as a run with its seed would fit it on this task.
    One that does not end well is the end of all.
    """
    if method.members == 1:
        return _fitted(method, given, before, seed, device, on_epoch)
    models, years = [], []
    for number, own in enumerate(given.members):
        earlier = None if before is None else before.members[number]
        model, year = _fitted(method, own, earlier, member_seed(seed, number), device, on_epoch)
        models.append(model)
        years.append(year)
        if year.fit.status != "ok":
            break
    whole = EnsembleModel(models)
    whole.views = tuple(year.task for year in years)
    memory = pooled([year.memory for year in years])
    return whole, YearFit(years[0].task, joint_fit([year.fit for year in years]), memory)


def joint_fit(fits: Sequence[Fit]) -> Fit:
    """What became of members that were fitted one after the other: the last one says how it ended."""
    last = fits[-1]
    reason = f"member {len(fits) - 1}: {last.reason}" if last.reason else ""
    loss = sum(fit.loss for fit in fits) / len(fits)
    return Fit(last.status, reason, sum(fit.epochs for fit in fits), loss, sum(fit.seconds for fit in fits))


def _fitted(
    method: Method,
    given: Given,
    before: Trained | None,
    seed: int,
    device: str,
    on_epoch: Callable[[int, float], None] | None,
) -> tuple[Model, YearFit]:
    strategy = method.build_strategy()
    task = given.task.task
    model = start_model(task, method, before if strategy.warm else None, seed)
    previous = None if before is None or method.strategy is None else before.model
    year = fit_year(model, previous, strategy, given, method.preset.training, seed, on_epoch, device)
    return model, year


def _fit(request: Request, before: Trained | None) -> Reply:
    assert request.given is not None
    model, year = fitted(request.method, request.given, before, request.seed, request.device)
    fit, peak = year.fit, peak_memory_mb()
    if fit.status != "ok":
        return Reply(fit, peak_memory_mb=peak)
    memory = dump_memory(year.memory) if year.memory else None
    made = replace(_predict(model, year.task), fit=fit, weights=dump_weights(model), peak_memory_mb=peak)
    return replace(made, memory=memory)


def _predict(model: Model, task: Task) -> Reply:
    return Reply(columns=model.predicted_columns(task.test), confidence=model.probabilities(task.test).max(axis=1))


def _seed_global(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
