"""Scoring one setting of parameters: fit once per seed and task, score every setting of the detectors on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from lgl_bench.core.errors import LglBenchError, PluginError, UsageError
from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.types import BoolArray, Task, Truth
from lgl_bench.grading.selection import ValidationAnswers, choose_candidate, choose_good
from lgl_bench.metrics.classification import accuracy
from lgl_bench.plans.fits import ProtocolSetting
from lgl_bench.runs.answering import TaskAnswers, score_task
from lgl_bench.runs.scoring import Method, Trained, start_model
from lgl_bench.streams.stream import Stream
from lgl_bench.training.trainer import train
from lgl_bench.tuning.space import Candidates
from lgl_bench.tuning.tasks import Metric, validation_tasks

STEPS = 5
"""How often a fit reports its progress."""


@dataclass(frozen=True, slots=True)
class SettingScore:
    """What a setting is worth on the validation tasks, averaged over tasks, then seeds.

    Attributes:
        value: The metric; of several detectors that share the fit, their mean AUROC.
        accuracy: None if no scored vertex is of a known class.
        chosen: Per detector: expression with its best parameters, and its AUROC. Empty if no vertex is new.
    """

    value: float
    accuracy: float | None
    chosen: list[tuple[str, float]] = field(default_factory=list)


def score_setting(
    stream: Stream,
    setting: ProtocolSetting,
    metric: Metric,
    method: Method,
    wanted: Sequence[Candidates],
    seeds: int,
    report: Callable[[int, float], None] | None = None,
) -> SettingScore:
    """Fits every seed and task once and scores all settings of the detectors on it.

    Args:
        stream: Cut by `validation_part`.
        setting: The protocol.
        metric: What counts.
        method: Backbone, head and parameters; its detectors are not looked at.
        wanted: The detectors.
        seeds: Number of seeds.
        report: Called with a step, counted over epochs, tasks and seeds, and the mean of the metric so far.
    """
    every = tuple(parse(text) for text in sorted({text for one in wanted for text in one.settings}))
    plain = tuple(parse(text) for text in sorted({one.plain for one in wanted}))
    progress = _EpochReports(metric, replace(method, detectors=plain), report)
    accuracies: list[list[float]] = []
    answers: list[list[ValidationAnswers]] = []
    for seed in range(seeds):
        accuracies.append([])
        answers.append([])
        for task, truth in validation_tasks(stream, setting, metric, seed):
            if task.skip_reason:
                continue
            new = ~np.isin(truth.labels, task.known)
            rankable = bool(wanted) and new.any() and not new.all()
            found = _answer(task, truth, replace(method, detectors=every if rankable else ()), seed, progress)
            value = accuracy(truth.labels, found.predicted, task.known).value
            if value is not None:
                accuracies[-1].append(value)
            if rankable:
                answers[-1].append(complete_answers(found, new, wanted))
    chosen = [best_setting(one, answers) for one in wanted] if all(answers) and answers else []
    right = float(np.mean([np.mean(seed) for seed in accuracies])) if all(accuracies) else None
    value = right if metric == "accuracy" else float(np.mean([score for _, score in chosen])) if chosen else None
    if value is None:
        raise UsageError(f"no validation task of {stream.name} has an {metric}")
    return SettingScore(value, right, chosen)


def _answer(task: Task, truth: Truth, method: Method, seed: int, progress: _EpochReports) -> TaskAnswers:
    model = start_model(task, method, None, seed)
    now = Trained(model, task)
    fit = train(model, task, method.preset.training, seed, progress.of(now, truth, seed))
    if fit.status != "ok":
        raise LglBenchError(f"{fit.status}: {fit.reason}")
    return score_task(now, None, fit, method, seed, truth)


def complete_answers(found: TaskAnswers, new: BoolArray, wanted: Sequence[Candidates]) -> ValidationAnswers:
    """The answers of all settings of the detectors for a task.

    Raises:
        PluginError: A setting failed.
    """
    for one in wanted:
        for text in one.settings:
            if text in found.failed:
                raise PluginError(f"the detector {text} failed: {found.failed[text]}")
    return ValidationAnswers(new, found.novelty, found.neighbour)


def best_setting(one: Candidates, answers: Sequence[Sequence[ValidationAnswers]]) -> tuple[str, float]:
    """A detector with its best parameters, and its AUROC.

    For GOOD it is then the smallest alpha within one standard error of the best.
    """
    if not one.alphas:
        base, alpha = choose_candidate(answers, one.settings), 0.0
        expression = parse(base)
    else:
        base, alpha = choose_good(answers, one.settings, one.alphas)
        expression = Expression("good", (parse(base),), (("alpha", alpha),))
    scores = [[score for part in seed if (score := part.score(base, alpha)) is not None] for seed in answers]
    return str(expression), float(np.mean([np.mean(seed) for seed in scores]))


class _EpochReports:
    """Reports the progress of the fits, at equal shares of their epochs."""

    def __init__(self, metric: Metric, method: Method, report: Callable[[int, float], None] | None) -> None:
        self.metric = metric
        self.method = method
        self.report = report
        self.finished: list[float] = []
        self.fits = 0

    def of(self, now: Trained, truth: Truth, seed: int) -> Callable[[int, float], None] | None:
        """What the trainer of one fit calls after each epoch."""
        report = self.report
        if report is None:
            return None
        epochs = self.method.preset.training.epochs
        shares = {math.ceil(epochs * i / STEPS): i for i in range(1, STEPS + 1)}
        start = STEPS * self.fits
        before = tuple(self.finished)
        self.fits += 1

        def on_epoch(epoch: int, loss: float) -> None:
            value = self._measure(now, truth, seed) if epoch in shares else None
            if value is None:
                return
            if epoch == epochs:
                self.finished.append(value)
            report(start + shares[epoch], float(np.mean([*before, value])))

        return on_epoch

    def _measure(self, now: Trained, truth: Truth, seed: int) -> float | None:
        """Accuracy, or AUROC with the paper's parameters; the fit goes on as if nobody had looked."""
        task, model = now.task, now.model
        method = self.method if self.metric == "auroc" else replace(self.method, detectors=())
        with torch.random.fork_rng(devices=[]):
            found = score_task(now, None, None, method, seed, truth)
        model.forget()  # the next epoch has other weights
        if self.metric == "accuracy":
            return accuracy(truth.labels, found.predicted, task.known).value
        new = ~np.isin(truth.labels, task.known)
        part = ValidationAnswers(new, found.novelty, found.neighbour)
        scores = [score for name in found.novelty if (score := part.score(name)) is not None]
        return float(np.mean(scores)) if scores else None
